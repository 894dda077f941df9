import ServerTestSupport
import SluicePostgres
import TestSupport
import Testing
import TrackerKit

/// Two loaders and ten readers, which use the tables while a test changes them.
struct TableTraffic {
    let fixture: PostgresFixture
    /// The events with these numbers.
    let events: @Sendable (Range<Int>) -> [String]
    /// Queries that return a count each; the first one's never decreases.
    let queries: [String]

    /// Runs `body` under this traffic; returns the number of events that were loaded.
    ///
    /// Fails the test if a tracker refuses an event, a query fails, or the first count decreases.
    func during(_ body: () async throws -> Void) async throws -> Int {
        let stop = Flag()
        return try await withThrowingTaskGroup(of: Int.self) { group in
            defer { stop.set() }
            for loader in 1...2 {
                group.addTask { try await load(from: loader * 1_000_000, until: stop) }
            }
            for _ in 0..<10 {
                group.addTask {
                    try await query(until: stop)
                    return 0
                }
            }
            try await body()
            stop.set()
            return try await group.reduce(0, +)
        }
    }

    /// Loads deliveries of 20 events, each until it is delivered, and returns the number of events.
    private func load(from start: Int, until stop: Flag) async throws -> Int {
        let tracker = try await fixture.startedTracker()
        var number = start
        while !stop.isSet {
            let delivery = try fixture.delivery(events(number..<number + 20))
            var isDelivered = false
            while !isDelivered {
                try Task.checkCancellation()
                let outcome = await tracker.deliver(delivery)
                #expect(outcome.refusals == [])
                isDelivered = outcome.isDelivered
                try await waitBriefly()
            }
            number += 20
        }
        await tracker.stop()
        return number - start
    }

    private func query(until stop: Flag) async throws {
        var seen = 0
        while !stop.isSet {
            let rows = try await fixture.database.run(queries.joined(separator: "; "))
            #expect(rows.count == queries.count)
            let count = Int(rows.first ?? "") ?? 0
            #expect(count >= seen)
            seen = count
            try await pause()
        }
    }

    /// Leaves processor time for the code under test.
    private func pause() async throws {
        for _ in 0..<5 { try await waitBriefly() }
    }
}
