import EventSchema
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("PostgreSQL: duplicates")
struct PostgresDuplicateTests {
    private func fixture() async throws -> PostgresFixture {
        try await PostgresFixture([
            event("Bought", [property("number", .integer)]), event("Seen", [property("number", .integer)]),
        ])
    }

    private func events(_ numbers: some Sequence<Int>, _ name: String = "Bought") -> [String] {
        numbers.map { #"{"id":"\#(id($0))","name":"\#(name)","payload":{"number":\#($0)}}"# }
    }

    @Test("a repeated delivery adds no rows and counts as delivered", .promise("repeated-event"))
    func again() async throws {
        let fixture = try await fixture()
        let delivery = try fixture.delivery(events(0..<500) + events(0..<300, "Seen"))
        for _ in 0..<3 {
            let outcome = await fixture.tracker.deliver(delivery)
            #expect(outcome.refusals == [] && outcome.retry == nil)
        }
        #expect(try await fixture.count("analytics.bought") == 500)
        #expect(try await fixture.count("analytics.seen") == 300)
    }

    @Test("if half of a delivery is new, that half is inserted, and the existing rows do not change")
    func halfNew() async throws {
        let fixture = try await fixture()
        _ = await fixture.tracker.deliver(try fixture.delivery(events(0..<100)))
        try await fixture.database.run("UPDATE analytics.bought SET number = -1 WHERE number < 50")
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events(50..<150)))
        #expect(outcome.refusals == [] && outcome.retry == nil)
        let sums = try await fixture.database.run(
            "SELECT count(*), count(*) FILTER (WHERE number = -1), max(number) FROM analytics.bought"
        )
        #expect(sums == ["150|50|149"])
    }

    @Test("an id that occurs twice in one delivery is inserted once, with its first row")
    func twiceInOne() async throws {
        let fixture = try await fixture()
        let twice = events([1, 2, 3]) + [#"{"id":"\#(id(2))","name":"Bought","payload":{"number":99}}"#]
        let outcome = await fixture.tracker.deliver(try fixture.delivery(twice))
        #expect(outcome.refusals == [] && outcome.retry == nil)
        #expect(try await fixture.rows("number", of: "analytics.bought") == ["1", "2", "3"])
    }

    @Test(
        "of many rows with the same ids in one delivery, the first of each is stored, whatever their sizes and order",
        .promise("repeated-event")
    )
    func manyTimesInOne() async throws {
        let fixture = try await PostgresFixture([
            event("Bought", [property("number", .integer), property("text", .string)])
        ])
        // More than a page of the staging table each, so that PostgreSQL does not keep their order.
        let events = (0..<5).flatMap { copy in
            (0..<400).map { number in
                let place = copy % 2 == 0 ? number : 399 - number
                let text = String(repeating: "x", count: (place * 37 + copy * 911) % 3000)
                return #"{"id":"\#(id(place))","name":"Bought","payload":{"number":\#(copy),"text":"\#(text)"}}"#
            }
        }
        let outcome = await fixture.tracker.deliver(try fixture.delivery(events))
        #expect(outcome.refusals == [] && outcome.retry == nil)
        #expect(try await fixture.rows("number", of: "analytics.bought") == Array(repeating: "0", count: 400))
    }

    @Test("after duplicates, new deliveries are loaded as before")
    func afterwards() async throws {
        let fixture = try await fixture()
        for start in [0, 0, 100, 200, 300, 300, 400, 500, 600, 700, 800] {
            let outcome = await fixture.tracker.deliver(try fixture.delivery(events(start..<start + 100)))
            #expect(outcome.refusals == [] && outcome.retry == nil)
        }
        #expect(try await fixture.count("analytics.bought") == 900)
    }

    @Test("staging is used until four deliveries in a row had no duplicate")
    func memory() {
        var memory = DuplicateMemory()
        #expect(!memory.isWary)
        memory.noteDuplicates()
        for _ in 0..<3 { memory.noteClean() }
        #expect(memory.isWary)
        memory.noteDuplicates()
        for _ in 0..<4 {
            #expect(memory.isWary)
            memory.noteClean()
        }
        #expect(!memory.isWary)
    }
}
