import Synchronization

/// The memory that all connections may take together: their own, and that of bodies and answers.
final class MemoryBudget: Sendable {
    /// What a connection is counted for as long as it is open.
    ///
    /// It covers what the connection always has (its channel and its decoder, 16 KiB of a header, the 64 KiB of one read)
    /// and what is too small to be counted by itself: `freeBodyBytes`, which lie in that read, and unread answers up to
    /// `unreadAnswerBytes` and one more of `freeAnswerBytes`.
    static let bytesPerConnection = 128 << 10
    /// A request holds so much for its body and all that is made of it before it is counted.
    static let freeBodyBytes = 64 << 10
    /// A longer answer is counted until it has left.
    static let freeAnswerBytes = 16 << 10
    /// With more unread answers than this, no further request of a connection is looked at.
    static let unreadAnswerBytes = 32 << 10

    private let limit: Int
    private let used = Atomic<Int>(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Reserves bytes, if there are as many; each success needs a `release`.
    func reserve(_ bytes: Int) -> Bool {
        let (_, total) = used.add(bytes, ordering: .relaxed)
        if total <= limit { return true }
        release(bytes)
        return false
    }

    /// Gives bytes back.
    func release(_ bytes: Int) {
        // Most requests hold nothing, and the loops need not wait for each other then.
        guard bytes > 0 else { return }
        used.subtract(bytes, ordering: .relaxed)
    }

    /// How many bytes are reserved.
    var reservedBytes: Int { used.load(ordering: .relaxed) }
}
