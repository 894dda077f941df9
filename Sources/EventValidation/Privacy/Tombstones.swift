package import EventModel
import Synchronization

/// The tombstones that a process knows, for finding the events that they cover.
package struct Tombstones: Sendable {
    private let key: HashKey?
    /// When each identifier's erasure was requested last, in microseconds since 1970, by the text of the identifier's hash.
    private let requests: [Tombstone.Subject: [String: Int64]]
    /// The latest of these times.
    private let latest: Int64

    /// Knows no tombstone.
    package init() {
        key = nil
        requests = [:]
        latest = .min
    }

    /// Knows these tombstones, whose hashes were made with `key`.
    package init(_ tombstones: some Sequence<Tombstone>, key: HashKey) {
        var requests: [Tombstone.Subject: [String: Int64]] = [:]
        for tombstone in tombstones {
            let time = tombstone.requestedAt.microseconds
            requests[tombstone.subject, default: [:]].merge([tombstone.hash: time]) { max($0, $1) }
        }
        self.key = key
        self.requests = requests
        latest = requests.values.flatMap(\.values).max() ?? .min
    }

    /// Whether there is none.
    package var isEmpty: Bool { latest == .min }

    /// Whether a tombstone covers the event of a canonical line, which is given without its newline.
    ///
    /// The event is covered if it was received before the request to erase its user. In an event without a user, the anonymous id
    /// decides; with a user, it does not, because several people may use one device. An event that was received after all requests
    /// is not hashed, so new events cost no more than a look at their time.
    ///
    /// If `existing` is earlier than the time in the line, it counts instead: the event existed then, so it was received before.
    package func covers(_ line: UnsafeRawBufferPointer, existing: Timestamp? = nil) -> Bool {
        guard !isEmpty, let key, let line = CanonicalLine(line),
            let stated = Timestamp(text: line.rawText(of: line.receivedAt))
        else { return false }
        let received = existing.map { min($0, stated) } ?? stated
        guard received.microseconds < latest else { return false }
        if let user = line.userID {
            return isCovered(user, of: line, .user, received, key)
        }
        guard let anonymous = line.anonymousID else { return false }
        return isCovered(anonymous, of: line, .anonymous, received, key)
    }

    /// Whether a tombstone covers a rejected event, which was accepted before if it is a canonical line.
    package func covers(_ rejection: Rejection) -> Bool {
        rejection.original.withUnsafeBytes { covers($0) }
    }

    /// The time of the request to erase an identifier; `nil` if there is no tombstone of it.
    package func request(for identifier: String, _ subject: Tombstone.Subject) -> Timestamp? {
        guard let key else { return nil }
        return requests[subject]?[key.tombstoneHash(of: identifier, subject).text].map { Timestamp(microseconds: $0) }
    }

    private func isCovered(
        _ field: Range<Int>,
        of line: CanonicalLine,
        _ subject: Tombstone.Subject,
        _ received: Timestamp,
        _ key: HashKey
    ) -> Bool {
        guard let requests = requests[subject] else { return false }
        let hash = line.withText(of: field) { key.tombstoneHash(of: $0, subject) }
        return requests[hash.text].map { received.microseconds < $0 } ?? false
    }
}

/// The tombstones of a running process, which can be replaced while it delivers events.
package final class TombstoneRegister: Sendable {
    private let tombstones = Mutex(Tombstones())

    /// Knows no tombstone.
    package init() {}

    /// The tombstones at this time.
    package var current: Tombstones { tombstones.withLock { $0 } }

    /// Replaces all tombstones.
    package func replace(with tombstones: Tombstones) {
        self.tombstones.withLock { $0 = tombstones }
    }
}
