import NIOCore
import NIOHTTP1
import SluiceHTTP
import Testing

@Suite("Input that waits")
struct PendingInputTests {
    private static let head = PendingInput.Item.part(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")))

    private static func body(_ bytes: Int) -> PendingInput.Item { .part(.body(ByteBuffer(repeating: 0, count: bytes))) }

    @Test("it is taken in the order in which it came")
    func order() {
        var pending = PendingInput(maximumRequests: 10, budget: MemoryBudget(limit: 0))
        for bytes in 1...5 { pending.append(Self.body(bytes)) }
        var sizes: [Int] = []
        while case .part(.body(let piece)) = pending.popFirst() { sizes.append(piece.readableBytes) }
        #expect(sizes == [1, 2, 3, 4, 5])
        let isEmpty = pending.isEmpty
        let hasOverflowed = pending.hasOverflowed
        #expect(isEmpty && !hasOverflowed)
    }

    @Test("with too many requests, those that fit are kept, and everything after them is discarded")
    func requests() {
        var pending = PendingInput(maximumRequests: 2, budget: MemoryBudget(limit: 0))
        for _ in 0..<2 {
            pending.append(Self.head)
            pending.append(Self.body(1))
        }
        let fits = !pending.hasOverflowed
        pending.append(Self.head)
        let isFull = pending.hasOverflowed
        #expect(fits && isFull)
        pending.append(Self.body(1))
        var count = 0
        while pending.popFirst() != nil { count += 1 }
        let isFullForever = pending.hasOverflowed
        #expect(count == 4 && isFullForever)
    }

    @Test("requests that were taken do not count against the limit of later ones")
    func takenRequests() {
        var pending = PendingInput(maximumRequests: 2, budget: MemoryBudget(limit: 0))
        for _ in 0..<10 {
            pending.append(Self.head)
            pending.append(Self.head)
            _ = pending.popFirst()
            _ = pending.popFirst()
        }
        let hasOverflowed = pending.hasOverflowed
        #expect(!hasOverflowed)
    }

    @Test("it may take as many bytes as the limit, even in empty pieces")
    func bytes() {
        for size in [0, 1, 1_000, 100_000] {
            var pending = PendingInput(maximumRequests: 1, budget: MemoryBudget(limit: .max))
            var total = 0
            while !pending.hasOverflowed {
                total += size + PendingInput.bytesPerItem
                pending.append(Self.body(size))
            }
            #expect(total > PendingInput.maximumBytes)
            #expect(total - size - PendingInput.bytesPerItem <= PendingInput.maximumBytes)
        }
    }

    @Test("beyond one read it counts against the budget, until the last item is taken or it is discarded")
    func memory() {
        let budget = MemoryBudget(limit: 64 << 10)
        var pending = PendingInput(maximumRequests: 1, budget: budget)
        pending.append(Self.body(60_000))
        #expect(budget.reservedBytes == 0)
        pending.append(Self.body(60_000))
        #expect(budget.reservedBytes == 64 << 10)
        _ = pending.popFirst()
        #expect(budget.reservedBytes == 64 << 10)
        _ = pending.popFirst()
        #expect(budget.reservedBytes == 0)
        pending.append(Self.body(120_000))
        pending.clear()
        let fits = !pending.hasOverflowed
        #expect(budget.reservedBytes == 0 && fits)
        pending.append(Self.body(200_000))
        let isDiscarded = pending.hasOverflowed && pending.isEmpty
        #expect(isDiscarded)
    }

    @Test("one read is shared with the body of the current request", arguments: [(30_000, 0), (70_000, 1)])
    func besidesBody(bodyBytes: Int, steps: Int) {
        let budget = MemoryBudget(limit: .max)
        var pending = PendingInput(maximumRequests: 1, budget: budget)
        pending.append(Self.body(30_000), besides: bodyBytes)
        #expect(budget.reservedBytes == steps * (64 << 10))
        pending.clear()
    }
}
