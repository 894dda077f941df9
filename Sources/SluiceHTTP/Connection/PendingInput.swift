import NIOCore
package import NIOHTTP1

/// Input that was read while the connection could not handle it, in order.
///
/// If a limit is exceeded, the requests that were read before are answered; then the connection ends.
package struct PendingInput: ~Copyable {
    package enum Item {
        case part(HTTPServerRequestPart)
        /// What the decoder reports instead of a part.
        case failure(Failure)
    }

    /// The maximum size.
    ///
    /// Only a sender that closes its side before it has its response can reach it: then NIO reads all input without being
    /// asked to.
    package static let maximumBytes = 256 << 10
    /// What an item counts for besides the bytes of a body.
    package static let bytesPerItem = 256
    /// The size of one read, which the budget already counts for each connection, for this and for the body of the current request.
    private static let freeBytes = MemoryBudget.freeBodyBytes

    private let maximumRequests: Int
    private let budget: MemoryBudget
    private var items = CircularBuffer<Item>(initialCapacity: 0)
    private var byteCount = 0
    private var requestCount = 0
    private var memory = Reservation()
    /// Whether input was discarded because of a limit.
    package private(set) var hasOverflowed = false

    package init(maximumRequests: Int, budget: MemoryBudget) {
        self.maximumRequests = maximumRequests
        self.budget = budget
    }

    package var isEmpty: Bool { items.isEmpty }

    /// Appends an item, unless a limit is or was exceeded; the current request has a body of `bodyBytes`.
    package mutating func append(_ item: Item, besides bodyBytes: Int = 0) {
        if case .part(.body(let piece)) = item { byteCount += piece.readableBytes }
        if case .part(.head) = item { requestCount += 1 }
        byteCount += Self.bytesPerItem
        // Later requests get no response then, which tells the sender that they were not accepted.
        if requestCount > maximumRequests || byteCount > Self.maximumBytes || !reserve(besides: bodyBytes) {
            hasOverflowed = true
        }
        if !hasOverflowed { items.append(item) }
    }

    /// Removes the first item; with the last one, the memory is released.
    package mutating func popFirst() -> Item? {
        guard let item = items.popFirst() else { return nil }
        if case .part(.head) = item { requestCount -= 1 }
        if items.isEmpty { clear() }
        return item
    }

    /// Discards everything.
    package mutating func clear() {
        items.removeAll()
        byteCount = 0
        requestCount = 0
        memory.shrink(to: 0)
    }

    /// Reserves memory in steps of one read.
    private mutating func reserve(besides bodyBytes: Int) -> Bool {
        let counted = byteCount - max(0, Self.freeBytes - bodyBytes)
        guard counted > memory.byteCount else { return true }
        let steps = (counted + Self.freeBytes - 1) / Self.freeBytes
        return memory.grow(to: steps * Self.freeBytes, of: budget)
    }
}
