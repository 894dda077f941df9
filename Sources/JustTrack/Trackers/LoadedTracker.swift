import Synchronization

/// The app's tracker that has a name at present; another may take its place while events are passed on.
final class LoadedTracker: Sendable {
    // Safe to send: from when it is loaded on only the one thread of its lane calls it, for one event at a time, as only
    // the one queue of JustTrack's did; what its author shares with other threads is the author's to guard, as it was.
    private struct Holder: @unchecked Sendable {
        let tracker: any EventTracker
    }

    private let holder: Mutex<Holder>

    init(_ tracker: any EventTracker) {
        holder = Mutex(Holder(tracker: tracker))
    }

    /// Puts another tracker in its place, which gets the next event.
    func replace(with tracker: any EventTracker) {
        let replacement = Holder(tracker: tracker)
        holder.withLock { $0 = replacement }
    }

    /// Calls the tracker, outside of the lock, because it may load another.
    func trackEvent(_ name: String, payload: Payload) -> Bool {
        holder.withLock { $0 }.tracker.trackEvent(name, payload: payload)
    }
}
