import Synchronization

/// The memory that large bodies may take together, over all connections.
final class BodyBudget: Sendable {
    /// Bodies up to this size are not counted: the limit of connections bounds them well enough.
    static let freeBytesPerBody = 64 << 10

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

    /// Counts bytes that exist already, whether or not there is room for them; needs a `release`, too.
    func add(_ bytes: Int) {
        used.add(bytes, ordering: .relaxed)
    }

    /// Gives bytes back.
    func release(_ bytes: Int) {
        used.subtract(bytes, ordering: .relaxed)
    }
}
