/// Somewhere that events go: the app's way to an analytics service.
///
/// - **Calls.** A tracker is called for one event at a time, in the order in which they were tracked, on a thread of its
///   own, which it may block: no other tracker waits for it. It need not be `Sendable`; what it shares with other
///   threads it guards, as ever.
/// - **Answers.** `true` says that the event is delivered. After `false` it is kept, those behind it go on, and it comes
///   again after the next `enable()`, in this process or a later one.
/// - **Repetition.** An event may come again where the process ended before its answer was noted; that is one at most,
///   and while `enable()` restores events of an earlier process, those that were written together.
///
/// It inherits `SendableMetatype` so that no tracker's methods can belong to the main actor, whose thread does not call them.
public protocol EventTracker: SendableMetatype {
    /// The name by which events name this tracker; asked once, when the tracker is loaded.
    var name: String { get }

    /// Passes an event on; returns whether it is delivered.
    @discardableResult
    func trackEvent(_ name: String, payload: Payload) -> Bool
}
