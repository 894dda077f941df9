import Synchronization

/// The memory budget of all connections together, with their bodies and responses.
package final class MemoryBudget: Sendable {
    /// The bytes that an open connection counts for.
    ///
    /// They cover what every connection has (its channel and its decoder, 16 KiB of a header, 64 KiB of one read) and what is
    /// too small to be counted by itself: `freeBodyBytes`, which are part of that read, and unread responses of up to
    /// `unreadAnswerBytes` and one more of `freeAnswerBytes`.
    static let bytesPerConnection = 128 << 10
    /// A body, with everything made of it, counts only beyond this size.
    package static let freeBodyBytes = 64 << 10
    /// A longer response counts until it is sent.
    static let freeAnswerBytes = 16 << 10
    /// With more bytes of unread responses than this, no further request of the connection is handled.
    static let unreadAnswerBytes = 32 << 10

    private let limit: Int
    private let whole: MemoryBudget?
    private let used = Atomic<Int>(0)

    /// Makes a budget, or a part of another one, which counts for both.
    package init(limit: Int, within whole: MemoryBudget? = nil) {
        self.limit = limit
        self.whole = whole
    }

    /// Reserves bytes, if they are available; each success needs a `release`.
    package func reserve(_ bytes: Int) -> Bool {
        let (_, total) = used.add(bytes, ordering: .relaxed)
        if total <= limit, whole?.reserve(bytes) ?? true { return true }
        used.subtract(bytes, ordering: .relaxed)
        return false
    }

    /// Releases bytes.
    package func release(_ bytes: Int) {
        // Most requests reserve nothing, and skipping the atomic operation avoids contention.
        guard bytes > 0 else { return }
        used.subtract(bytes, ordering: .relaxed)
        whole?.release(bytes)
    }

    /// The number of reserved bytes.
    package var reservedBytes: Int { used.load(ordering: .relaxed) }
}
