import EventModel

/// The rate of a key, which several senders may share.
///
/// A batch of any size is accepted while one event is left, and the rest of it is a debt that later batches wait for. If it had to
/// wait for all of its events, those who send single events with the same key could take each one that comes, and it would be
/// refused for ever. For the same reason, senders that were refused are served in their order: the others must leave an event for
/// the first one, until it comes again or its time is over. A full bucket serves everyone.
struct SharedRate: Sendable {
    /// A sender that was refused, and how long its place is kept.
    private struct Place: Sendable {
        let sender: NetworkRange.Address?
        var end: Timestamp
    }

    /// How long a sender's place is kept after the time that it was told to wait.
    private static let graceInMicroseconds: Int64 = 30_000_000
    /// The maximum number of places; senders beyond it have none until others are served.
    private static let maximumPlaces = 64

    private var bucket: TokenBucket
    private var places: [Place] = []

    init(rate: Int, burst: Int) {
        bucket = TokenBucket(rate: rate, capacity: burst)
    }

    mutating func change(rate: Int, burst: Int) {
        bucket = bucket.changed(rate: rate, capacity: burst)
    }

    /// How long a sender has to wait before it can send this number of events; `nil` if it can do so now.
    mutating func wait(for events: Int, of sender: NetworkRange.Address?, now: Timestamp) -> Duration? {
        while let first = places.first, first.end.microseconds <= now.microseconds { places.removeFirst() }
        let isFirst = places.first.map { $0.sender == sender } ?? true
        guard let wait = bucket.wait(for: isFirst ? 1 : events + 1, now: now) else { return nil }
        let end = Timestamp(microseconds: now.microseconds + Int64(wait / .microseconds(1)) + Self.graceInMicroseconds)
        if let index = places.firstIndex(where: { $0.sender == sender }) {
            places[index].end = end
        } else if places.count < Self.maximumPlaces {
            places.append(Place(sender: sender, end: end))
        }
        return wait
    }

    /// Takes events, after `wait` returned `nil`.
    mutating func take(_ events: Int, of sender: NetworkRange.Address?) {
        bucket.take(events)
        places.removeAll { $0.sender == sender }
    }

    /// Takes events in any case.
    mutating func charge(_ events: Int) { bucket.take(events) }

    mutating func giveBack(_ events: Int) { bucket.giveBack(events) }
}
