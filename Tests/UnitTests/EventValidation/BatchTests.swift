import EventModel
import EventSchema
import EventValidation
import TestCases
import Testing

@Suite("A batch")
struct BatchTests {
    /// Seven events: three of the sample plan's definitions, with different trackers.
    func batch() throws -> EventBatch {
        let purchase = Sent.purchase()
        let events = [Sent.ping(), purchase, Sent.open(""), Sent.ping(), Sent.open("\"x\":1"), purchase, Sent.ping()]
        return try #require(try EventValidator.sample().check("[\(events.joined(separator: ","))]").batch)
    }

    func line(_ batch: EventBatch, _ index: Int) -> String { String(decoding: batch.line(at: index), as: UTF8.self) }

    @Test("gives its lines in their order, together and one by one")
    func lines() throws {
        let batch = try batch()
        let lines = (0..<batch.count).map { line(batch, $0) }
        #expect(String(decoding: batch.lines, as: UTF8.self) == lines.map { $0 + "\n" }.joined())
        #expect(batch.entries.map(\.definitionIndex) == [2, 0, 1, 2, 1, 0, 2])
        #expect(zip(batch.entries, lines).allSatisfy { $1.contains("\"id\":\"\($0.id)\"") })
    }

    @Test("of some of its events has only their lines and entries")
    func selecting() throws {
        let batch = try batch()
        let selected = try #require(batch.selecting { $0.definitionIndex == 2 })
        #expect((0..<selected.count).map { line(selected, $0) } == [0, 3, 6].map { line(batch, $0) })
        #expect(selected.entries.map(\.id) == [0, 3, 6].map { batch.entries[$0].id })
        #expect(selected.byteCount == selected.lines.count)
    }

    @Test("of all its events is the same batch, and of none is nil")
    func selectingAllOrNone() throws {
        let batch = try batch()
        #expect(batch.selecting { _ in true } === batch)
        #expect(batch.selecting { _ in false } == nil)
    }

    @Test("is sliced into the events of each tracker")
    func slices() throws {
        let batch = try batch()
        let wanted = ["console": [0, 1, 3, 5, 6], "postgres": [1, 5], "kafka": [2, 4]]
        for (tracker, indexes) in wanted {
            let slice = try #require(EventSlice(batch, for: batch.catalog.mask(ofTracker: tracker)))
            #expect((0..<slice.count).map { slice.batchIndex(at: $0) } == indexes)
            #expect(slice.byteCount == indexes.reduce(0) { $0 + batch.line(at: $1).count + 1 })
        }
        #expect(EventSlice(batch, for: batch.catalog.mask(ofTracker: "nobody")) == nil)
    }

    @Test("of accepted lines is not made of lines of another plan, or of what is no line")
    func acceptedLines() throws {
        let batch = try batch()
        #expect(EventBatch(accepted: batch.lines, of: batch.catalog)?.count == 7)
        let other = EventCatalog(plan: TrackingPlan(events: Array(batch.catalog.definitions.dropLast())))
        #expect(EventBatch(accepted: batch.lines, of: other) == nil)
        for text in ["", "{}\n", line(batch, 0), line(batch, 0).replacing("\"id\":\"", with: "\"id\":\"x") + "\n"] {
            let bytes = Array(text.utf8)
            #expect(bytes.withUnsafeBytes { EventBatch(accepted: $0, of: batch.catalog) } == nil, "\(text)")
        }
    }

    @Test("belongs to a plan whose digest depends on nothing but the plan")
    func planDigest() throws {
        let plan = try batch().catalog.plan
        let digest = EventCatalog(plan: plan).planDigest
        #expect(EventCatalog(plan: plan).planDigest == digest)
        #expect(digest.description.utf8.count == 32)
        var other = plan
        other.events[0].trackers.append("more")
        #expect(EventCatalog(plan: other).planDigest != digest)
        other = plan
        other.events[0].properties.append(
            PropertyDefinition(name: "limit", type: .number, minimum: .number(-.infinity), location: .line(1))
        )
        #expect(EventCatalog(plan: other).planDigest != digest)
    }

    @Test("that goes to one tracker as a whole is one slice without a list of positions")
    func uniform() throws {
        let batch = try #require(try EventValidator.sample().check("[\(Sent.open("")),\(Sent.open(""))]").batch)
        let slice = try #require(EventSlice(batch, for: batch.catalog.mask(ofTracker: "Kafka")))
        #expect(slice.count == 2 && slice.byteCount == batch.byteCount)
    }

    @Test("can be sliced again, and the parts add up to the whole")
    func subslices() throws {
        let batch = try batch()
        let slice = try #require(EventSlice(batch, for: batch.catalog.mask(ofTracker: "console")))
        let (first, rest) = (slice[0..<2], slice[2..<slice.count])
        let inner = rest[1..<3]
        #expect((0..<first.count).map { first.batchIndex(at: $0) } == [0, 1])
        #expect((0..<rest.count).map { rest.batchIndex(at: $0) } == [3, 5, 6])
        #expect((0..<inner.count).map { inner.batchIndex(at: $0) } == [5, 6])
        #expect(first.byteCount + rest.byteCount == slice.byteCount)
        #expect(EventSlice(batch)[3..<3].count == 0)
    }
}
