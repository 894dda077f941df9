import EventSchema
import SluicePostgres
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

    @Test("a whole delivery that comes again adds nothing and is delivered")
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

    @Test("of a delivery that is half new, the new half goes in and the old rows stay as they were")
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

    @Test("an id that comes twice in one delivery goes in once, with its first row")
    func twiceInOne() async throws {
        let fixture = try await fixture()
        let twice = events([1, 2, 3]) + [#"{"id":"\#(id(2))","name":"Bought","payload":{"number":99}}"#]
        let outcome = await fixture.tracker.deliver(try fixture.delivery(twice))
        #expect(outcome.refusals == [] && outcome.retry == nil)
        #expect(try await fixture.rows("number", of: "analytics.bought") == ["1", "2", "3"])
    }

    @Test("after duplicates, new deliveries go in as before")
    func afterwards() async throws {
        let fixture = try await fixture()
        for start in [0, 0, 100, 200, 300, 300, 400, 500, 600, 700, 800] {
            let outcome = await fixture.tracker.deliver(try fixture.delivery(events(start..<start + 100)))
            #expect(outcome.refusals == [] && outcome.retry == nil)
        }
        #expect(try await fixture.count("analytics.bought") == 900)
    }

    @Test("wariness lasts for four deliveries without a duplicate, and begins anew with each one")
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
