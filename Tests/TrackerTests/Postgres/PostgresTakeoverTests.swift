import EventJournal
import EventModel
import EventSchema
import EventValidation
import Logging
import SluicePostgres
import TestPromises
import TestSupport
import Testing
import TrackerKit

/// What happens to a session that an earlier process left behind, and to a process that was replaced.
@Suite("PostgreSQL: taking over from an earlier session", .timeLimit(.minutes(5)))
struct PostgresTakeoverTests {
    private static let plan = [event("Bought", [property("number", .integer)])]
    private let journal = JournalID()

    private func fixture() async throws -> PostgresFixture {
        let fixture = try await PostgresFixture(Self.plan)
        try await fixture.database.noteInserts(into: "analytics.bought")
        return fixture
    }

    private func delivery(_ numbers: Range<Int>, to sequence: UInt64, _ fixture: PostgresFixture) throws -> Delivery {
        let events = numbers.map { #"{"id":"\#(id($0))","name":"Bought","payload":{"number":\#($0)}}"# }
        return Delivery(
            [EventSlice(try fixture.batch(events))],
            checkpoint: Checkpoint(journal: journal, nextSequence: sequence)
        )
    }

    @Test(
        "the next process terminates a session that still reads rows from a silent network",
        .promise("interrupted-commit")
    )
    func silentNetwork() async throws {
        let fixture = try await fixture()
        let proxy = try SilentProxy(to: fixture.database.server.port)
        let left = try await fixture.startedTracker(connection: fixture.database.url(port: proxy.port))
        #expect(try await left.checkpoint(ofJournal: journal) == nil)
        proxy.goSilent(afterBytes: 20_000)
        let delivery = try delivery(0..<5000, to: 5000, fixture)
        let task = Task { await left.deliver(delivery) }
        await proxy.waitForSilence()
        try await fixture.database.waitForStuckCopy()
        task.cancel()
        #expect(await task.value.retry?.reason.code == .cancelled)

        // The server does not notice by itself: the proxy's end of the connection still answers keepalives.
        let next = try await fixture.startedTracker()
        #expect(try await next.checkpoint(ofJournal: journal) == nil)
        #expect(await next.deliver(delivery).isDelivered)
        #expect(try await fixture.database.notedInserts() == (0..<5000).map(id))
        #expect(try await next.checkpoint(ofJournal: journal) == 5000)
    }

    @Test("the same process replaces a connection that went silent, and terminates its session")
    func silentConnection() async throws {
        let fixture = try await fixture()
        let proxy = try SilentProxy(to: fixture.database.server.port)
        let tracker = try await fixture.startedTracker(connection: fixture.database.url(port: proxy.port))
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        proxy.goSilent(afterBytes: 20_000)
        let delivery = try delivery(0..<5000, to: 5000, fixture)
        let task = Task { await tracker.deliver(delivery) }
        await proxy.waitForSilence()
        try await fixture.database.waitForStuckCopy()
        task.cancel()
        #expect(await task.value.retry != nil)
        #expect(await tracker.deliver(delivery).isDelivered)
        #expect(try await fixture.database.notedInserts() == (0..<5000).map(id))
    }

    @Test("a session of another application, or one that is not recorded, is waited for but not terminated")
    func others() async throws {
        let fixture = try await fixture()
        let session = try fixture.database.server.openSession(fixture.database.name)
        let left = try await fixture.startedTracker(deliveryTimeout: .seconds(240), lockTimeout: .seconds(60))
        #expect(try await left.checkpoint(ofJournal: journal) == nil)
        let url = fixture.database.url
        let foreign = try await fixture.startedTracker(connection: url + "?application_name=reports")
        for (round, next) in [foreign, try await fixture.startedTracker()].enumerated() {
            if round == 1 {
                // Now it is the same application, but not the recorded session.
                try await fixture.database.run("UPDATE analytics._sluice_checkpoints SET backend_start = now()")
            }
            try session.run("BEGIN; LOCK TABLE analytics.bought; SELECT 1;")
            let number = round * 10
            let delivery = try delivery(number..<number + 10, to: UInt64(number + 10), fixture)
            async let outcome = left.deliver(delivery)
            try await fixture.database.waitForSessions(1, waitingFor: "relation")
            async let answer = next.checkpoint(ofJournal: journal)
            try await fixture.database.waitForSessions(1, waitingFor: "advisory", application: "%")
            try session.run("COMMIT; SELECT 1;")
            #expect(await outcome.isDelivered)
            #expect(try await answer == UInt64(number + 10))
            #expect(try await left.checkpoint(ofJournal: journal) == UInt64(number + 10))
        }
        try session.close()
    }

    @Test(
        "a superseded process loads no rows and stores no checkpoint until its checkpoint is requested again",
        .promise("copied-journal")
    )
    func superseded() async throws {
        let fixture = try await fixture()
        let first = try await fixture.startedTracker()
        #expect(try await first.checkpoint(ofJournal: journal) == nil)
        #expect(await first.deliver(try delivery(0..<10, to: 10, fixture)).isDelivered)
        let second = try await fixture.startedTracker()
        #expect(try await second.checkpoint(ofJournal: journal) == 10)
        #expect(await second.deliver(try delivery(10..<20, to: 25, fixture)).isDelivered)
        for _ in 0..<2 {
            let outcome = await first.deliver(try delivery(20..<30, to: 20, fixture))
            #expect(outcome.retry?.reason.code == .superseded)
            #expect(outcome.retry?.positions == nil)
            #expect(outcome.retry?.reason.isRetryable == false)
        }
        #expect(try await fixture.count("analytics.bought") == 20)
        #expect(try await second.checkpoint(ofJournal: journal) == 25)
        // Once its checkpoint is requested again, it continues, even with a smaller number, and the other one is superseded.
        #expect(try await first.checkpoint(ofJournal: journal) == 25)
        #expect(await first.deliver(try delivery(20..<30, to: 20, fixture)).isDelivered)
        #expect(await second.deliver(try delivery(30..<40, to: 40, fixture)).retry?.reason.code == .superseded)
        #expect(try await fixture.count("analytics.bought") == 30)
        #expect(try await second.checkpoint(ofJournal: journal) == 20)
    }

    @Test("a superseded process does not load part of a delivery either", .promise("copied-journal"))
    func supersededPart() async throws {
        let fixture = try await fixture()
        let first = try await fixture.startedTracker()
        #expect(try await first.checkpoint(ofJournal: journal) == nil)
        #expect(await first.deliver(try delivery(0..<10, to: 10, fixture)).isDelivered)
        // A part of a delivery is loaded, and does not change the stored checkpoint.
        #expect(await first.deliver(try delivery(10..<20, to: 20, fixture).selecting(0..<5)).isDelivered)
        #expect(try await fixture.database.run("SELECT next_sequence FROM analytics._sluice_checkpoints") == ["10"])
        let second = try await fixture.startedTracker()
        #expect(try await second.checkpoint(ofJournal: journal) == 10)
        #expect(await second.deliver(try delivery(15..<20, to: 20, fixture)).isDelivered)
        for _ in 0..<2 {
            let outcome = await first.deliver(try delivery(20..<30, to: 30, fixture).selecting(0..<5))
            #expect(outcome.retry?.reason.code == .superseded)
        }
        #expect(try await fixture.count("analytics.bought") == 20)
    }

    @Test(
        "a checkpoint that was changed or removed by hand is not overwritten until the checkpoint is requested again",
        .promise("copied-journal")
    )
    func byHand() async throws {
        let fixture = try await fixture()
        let tracker = try await fixture.startedTracker()
        for change in [
            "UPDATE analytics._sluice_checkpoints SET next_sequence = 3", "DELETE FROM analytics._sluice_checkpoints",
        ] {
            _ = try await tracker.checkpoint(ofJournal: journal)
            #expect(await tracker.deliver(try delivery(0..<10, to: 10, fixture)).isDelivered)
            try await fixture.database.run(change)
            #expect(await tracker.deliver(try delivery(10..<20, to: 20, fixture)).retry?.reason.code == .superseded)
        }
        #expect(try await tracker.checkpoint(ofJournal: journal) == nil)
        #expect(await tracker.deliver(try delivery(10..<20, to: 20, fixture)).isDelivered)
        #expect(try await tracker.checkpoint(ofJournal: journal) == 20)
    }

    @Test("a delivery for a journal whose checkpoint was not requested is not loaded")
    func unasked() async throws {
        let fixture = try await fixture()
        let outcome = await fixture.tracker.deliver(try delivery(0..<10, to: 10, fixture))
        #expect(outcome.retry?.reason.code == .superseded)
        #expect(try await fixture.count("analytics.bought") == 0)
    }

    @Test(
        "a session sets the server's keepalives to 20 s and three times 10 s, and its tcp_user_timeout to 60 s",
        .promise("interrupted-commit")
    )
    func keepalives() async throws {
        let fixture = try await PostgresFixture(Self.plan)
        // Reads the session's own socket settings when a row is inserted.
        try await fixture.database.run(
            """
            CREATE TABLE public.noted (idle text, gap text, count text, timeout text);
            CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                INSERT INTO public.noted VALUES (current_setting('tcp_keepalives_idle'),
                    current_setting('tcp_keepalives_interval'), current_setting('tcp_keepalives_count'),
                    current_setting('tcp_user_timeout'));
                RETURN NEW; END$$;
            CREATE TRIGGER note BEFORE INSERT ON analytics.bought FOR EACH ROW EXECUTE FUNCTION public.note()
            """
        )
        let events = [#"{"id":"\#(id(1))","name":"Bought","payload":{"number":1}}"#]
        #expect(await fixture.tracker.deliver(try fixture.delivery(events)).isDelivered)
        #expect(try await fixture.database.run("SELECT * FROM public.noted") == ["20|10|3|60000"])
    }
}
