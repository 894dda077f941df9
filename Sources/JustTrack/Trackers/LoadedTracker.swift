import Synchronization

/// The app's tracker that has a name at present; another may take its place while events are passed on.
final class LoadedTracker: Sendable {
    // Safe to send: from when it is loaded on it is called when it is its turn only, for one event at a time, as the one
    // queue of JustTrack's did; what its author shares with other threads is the author's to guard, as it was.
    private struct Holder: @unchecked Sendable {
        let tracker: any EventTracker
        let turn: TrackerTurn
    }

    private let holder: Mutex<Holder>

    init(_ tracker: any EventTracker) {
        holder = Mutex(Holder(tracker: tracker, turn: .of(tracker)))
    }

    /// Puts another tracker in its place, which gets the next event.
    func replace(with tracker: any EventTracker) {
        let replacement = Holder(tracker: tracker, turn: .of(tracker))
        holder.withLock { $0 = replacement }
    }

    /// Calls the tracker, outside of the lock, because it may load another.
    func trackEvent(_ name: String, payload: Payload) -> Bool {
        let holder = holder.withLock { $0 }
        return holder.turn.take { holder.tracker.trackEvent(name, payload: payload) }
    }
}
