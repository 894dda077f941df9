import EventSchema
import EventValidation
import SluiceHTTP
import Testing

@Suite("The documents of GET /v1/plan")
struct PlanCacheTests {
    private static let catalog = EventCatalog(
        plan: TrackingPlan(events: (0..<100).map { EventDefinition(key: "E\($0)", trackers: [], location: place) })
    )
    private static let place = PlanLocation(file: "test.plist", line: 1, column: 1)

    private static func scope(_ number: Int) -> PlanScope { .only(EventSet(named: ["E\(number)"], in: catalog)) }

    private static func document(_ bytes: Int) -> PlanOutcome {
        .success(PlanDocument(String(repeating: "x", count: bytes)))
    }

    private static func isKept(_ number: Int, in cache: inout PlanCache<Int>) -> Bool {
        if case .known = cache.request(scope(number), 0) { true } else { false }
    }

    /// Has a document rendered that nobody else waits for.
    private static func render(_ number: Int, bytes: Int, in cache: inout PlanCache<Int>) {
        guard case .render = cache.request(scope(number), 0) else {
            Issue.record("the document \(number) is there already")
            return
        }
        _ = cache.complete(scope(number), document(bytes))
    }

    @Test("one document is rendered at a time, once for all who wait for it, in the order of the first requests")
    func order() {
        var cache = PlanCache<Int>(capacityInBytes: 100)
        guard case .render = cache.request(Self.scope(0), 1) else {
            Issue.record("nobody renders it")
            return
        }
        for (number, waiter) in [(0, 2), (1, 3), (2, 4), (1, 5)] {
            guard case .wait = cache.request(Self.scope(number), waiter) else {
                Issue.record("it is rendered at the same time")
                return
            }
        }
        let first = cache.complete(Self.scope(0), Self.document(1))
        #expect(first.waiters == [1, 2])
        #expect(first.next == Self.scope(1))
        let second = cache.complete(Self.scope(1), .failure(PlanTooLarge()))
        #expect(second.waiters == [3, 5])
        #expect(second.next == Self.scope(2))
        let third = cache.complete(Self.scope(2), Self.document(1))
        #expect(third.waiters == [4])
        #expect(third.next == nil)
        // What cannot be served is not rendered again, either.
        #expect((0..<3).allSatisfy { Self.isKept($0, in: &cache) })
        Self.render(3, bytes: 1, in: &cache)
    }

    @Test("beyond the limit on bytes, the documents that were used longest ago are discarded, but never the last one")
    func bytes() {
        var cache = PlanCache<Int>(capacityInBytes: 100)
        for number in 0..<4 { Self.render(number, bytes: 25, in: &cache) }
        #expect(Self.isKept(0, in: &cache))
        Self.render(4, bytes: 26, in: &cache)
        #expect(Self.isKept(0, in: &cache))
        #expect(Self.isKept(3, in: &cache))
        Self.render(5, bytes: 101, in: &cache)
        #expect(Self.isKept(5, in: &cache))
        Self.render(6, bytes: 1, in: &cache)
        #expect(!Self.isKept(5, in: &cache))
    }

    @Test("as many documents are kept as there may be, however small they are")
    func count() {
        var cache = PlanCache<Int>(capacityInBytes: 100)
        let capacity = PlanCache<Int>.capacityInDocuments
        for number in 0...capacity { Self.render(number, bytes: 1, in: &cache) }
        #expect((1...capacity).allSatisfy { Self.isKept($0, in: &cache) })
        #expect(!Self.isKept(0, in: &cache))
    }
}
