/// A destination of events, such as the client of an analytics service.
///
/// - **Calls.** A tracker is called for one event at a time, in the order in which they were tracked, on a thread of its
///   own. It may block this thread: no other tracker waits for it. It need not be `Sendable`, but it must protect what it
///   shares with other threads.
/// - **Answers.** `true` means that the event is delivered. After `false` the event is stored and later events are delivered; the
///   next `enable()` delivers it again, in this process or a later one.
/// - **Repetition.** If the process ends before an answer is stored, the event is delivered again. That is at most one event
///   for each tracker, or one group commit while `enable()` restores events of an earlier process.
///
/// It inherits `SendableMetatype` so that no tracker's methods are isolated to the main actor, which does not call them.
public protocol EventTracker: SendableMetatype {
    /// The name that events refer to; read once, when the tracker is loaded.
    var name: String { get }

    /// Delivers an event; returns whether it is delivered.
    @discardableResult
    func trackEvent(_ name: String, payload: Payload) -> Bool
}
