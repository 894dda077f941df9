import Synchronization

/// The memory budget of all connections together, with their bodies and responses.
final class MemoryBudget: Sendable {
    /// The bytes that an open connection counts for.
    ///
    /// They cover what every connection has (its channel and its decoder, 16 KiB of a header, 64 KiB of one read) and what is
    /// too small to be counted by itself: `freeBodyBytes`, which are part of that read, and unread responses of up to
    /// `unreadAnswerBytes` and one more of `freeAnswerBytes`.
    static let bytesPerConnection = 128 << 10
    /// A body, with everything made of it, counts only beyond this size.
    static let freeBodyBytes = 64 << 10
    /// A longer response counts until it is sent.
    static let freeAnswerBytes = 16 << 10
    /// With more bytes of unread responses than this, no further request of the connection is handled.
    static let unreadAnswerBytes = 32 << 10

    private let limit: Int
    private let used = Atomic<Int>(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Reserves bytes, if they are available; each success needs a `release`.
    func reserve(_ bytes: Int) -> Bool {
        let (_, total) = used.add(bytes, ordering: .relaxed)
        if total <= limit { return true }
        release(bytes)
        return false
    }

    /// Releases bytes.
    func release(_ bytes: Int) {
        // Most requests reserve nothing, and skipping the atomic operation avoids contention.
        guard bytes > 0 else { return }
        used.subtract(bytes, ordering: .relaxed)
    }

    /// The number of reserved bytes.
    var reservedBytes: Int { used.load(ordering: .relaxed) }
}
