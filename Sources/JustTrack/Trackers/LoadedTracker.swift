import Synchronization

/// The app's tracker of one name; it can be replaced while events are delivered.
final class LoadedTracker: Sendable {
    // Safe to send: a loaded tracker is called only when it holds its turn, for one event at a time, like on the queue of
    // the original JustTrack; its author protects what it shares with other threads.
    private struct Holder: @unchecked Sendable {
        let tracker: any EventTracker
        let turn: TrackerTurn
    }

    private let holder: Mutex<Holder>

    init(_ tracker: any EventTracker) {
        holder = Mutex(Holder(tracker: tracker, turn: .of(tracker)))
    }

    /// Replaces the tracker by another one, which gets the next event.
    func replace(with tracker: any EventTracker) {
        let replacement = Holder(tracker: tracker, turn: .of(tracker))
        holder.withLock { $0 = replacement }
    }

    /// Calls the tracker outside of the lock, because it may load another one.
    func trackEvent(_ name: String, payload: Payload) -> Bool {
        let holder = holder.withLock { $0 }
        return holder.turn.take { holder.tracker.trackEvent(name, payload: payload) }
    }
}
