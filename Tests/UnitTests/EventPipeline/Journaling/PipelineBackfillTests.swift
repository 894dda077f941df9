import EventJournal
import EventModel
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import Testing
import TrackerKit

/// Where a tracker begins that is new to a journal.
@Suite("A tracker without a cursor", .timeLimit(.minutes(5)))
struct PipelineBackfillTests {
    private static let spilling = Pipeline.Queue(capacityInEvents: 10, fullPolicy: .spill)

    private static func time(ofEvent number: Int) -> Timestamp {
        Timestamp(microseconds: 1_700_000_000_000_000 + Int64(number) * 1_000_000)
    }

    /// A journal of several segments that tracker alpha has got through, an event a second and two a commit.
    private func journal(events count: Int) async throws -> SimulatedFileSystem {
        let files = SimulatedFileSystem(seed: 1)
        let alpha = ScriptedTracker(name: "alpha")
        try await PipelineHarness([alpha], journal: files, queue: Self.spilling).run { pipeline, _ in
            for number in stride(from: 0, to: count, by: 2) {
                let events = [number, number + 1].map {
                    ScriptedEvent("AB", id: EventID(high: 0, low: UInt64($0)), time: Self.time(ofEvent: $0))
                }
                try await pipeline.submit(.scripted(catalog: PipelineHarness.catalog, events: events))
            }
            await alpha.waitForDelivered(count)
        }
        try #require(try files.names().count { $0.hasSuffix(".segment") } > 3)
        return files
    }

    /// Starts with alpha and beta, of which beta is new, sends the events 60 to 62 and waits until beta has so many.
    private func numbers(
        _ count: Int,
        from start: JournalStart,
        in files: SimulatedFileSystem
    ) async throws -> (alpha: [Int], beta: [Int]) {
        let (alpha, beta) = (ScriptedTracker(name: "alpha"), ScriptedTracker(name: "beta"))
        let harness = try PipelineHarness([alpha, beta], journal: files, queue: Self.spilling, start: start)
        try await harness.run { pipeline, _ in
            for number in 60..<63 { try await pipeline.submit(PipelineHarness.batch("AB", number..<number + 1)) }
            await alpha.waitForDelivered(3)
            await beta.waitForDelivered(count)
            await pipeline.flush()
        }
        return (alpha.deliveredNumbers, beta.deliveredNumbers)
    }

    @Test("that starts at the beginning gets everything once, in order, and affects nothing else")
    func beginning() async throws {
        let files = try await journal(events: 60)
        let first = try await numbers(63, from: .beginning, in: files)
        #expect(first.beta == Array(0..<63))
        #expect(first.alpha == [60, 61, 62])
        // Now it has a cursor.
        #expect(try await numbers(3, from: .beginning, in: files).beta == [60, 61, 62])
    }

    @Test("gets no more events at a time from the journal than its own limits allow")
    func limits() async throws {
        let files = try await journal(events: 60)
        let beta = ScriptedTracker(name: "Beta")
        let harness = try PipelineHarness(
            [ScriptedTracker(name: "alpha"), beta],
            journal: files,
            queue: Self.spilling,
            start: .beginning,
            deliveryByTracker: ["beta": .init(maximumEvents: 2, linger: .zero)]
        )
        try await harness.run { _, _ in await beta.waitForDelivered(60) }
        #expect(beta.deliveries.map(\.count) == Array(repeating: 2, count: 30))
    }

    @Test(
        "gets as many events at a time as it wants itself, unless the configuration says how many",
        arguments: [nil, 3]
    )
    func ownLimits(configured: Int?) async throws {
        let files = try await journal(events: 60)
        let beta = ScriptedTracker(name: "Beta")
        let harness = try PipelineHarness(
            [ScriptedTracker(name: "alpha"), PairTracker(tracker: beta)],
            journal: files,
            queue: Self.spilling,
            start: .beginning,
            deliveryByTracker: configured.map { ["beta": .init(maximumEvents: $0, linger: .zero)] } ?? [:]
        )
        try await harness.run { _, _ in await beta.waitForDelivered(60) }
        let size = configured ?? 2
        #expect(beta.deliveries.map(\.count) == Array(repeating: size, count: 60 / size))
    }

    @Test("that starts at the end gets later events only")
    func end() async throws {
        #expect(try await numbers(3, from: .end, in: journal(events: 60)).beta == [60, 61, 62])
    }

    @Test("that starts at a time starts with the commit that holds the first event of that time or later")
    func time() async throws {
        let start = JournalStart.time(Self.time(ofEvent: 31))
        // 30 came together with 31.
        #expect(try await numbers(33, from: start, in: journal(events: 60)).beta == Array(30..<63))
        let late = JournalStart.time(Self.time(ofEvent: 1000))
        #expect(try await numbers(3, from: late, in: journal(events: 60)).beta == [60, 61, 62])
        let early = JournalStart.time(Timestamp(microseconds: 0))
        #expect(try await numbers(63, from: early, in: journal(events: 60)).beta == Array(0..<63))
    }

    @Test("finds its time by the headers, and does not read finished segments")
    func seeks() async throws {
        let files = try await journal(events: 60)
        let journal = try Journal(files, configuration: .small(), now: 0)
        let segments = journal.position.segments
        let read = try files.bytesRead(of: segments[0].name.text) {
            let found = try journal.sequence(ofEventsFrom: Self.time(ofEvent: 41).microseconds)
            #expect(found == 40)
        }
        #expect(read == 0)
    }

    @Test("skips damage on the way to its time")
    func damage() async throws {
        let files = try await journal(events: 60)
        let journal = try Journal(files, configuration: .small(), now: 0)
        let segment = try #require(journal.position.segments.first)
        files[segment.name.text]?[FrameHeader.byteCount + 3] ^= 1
        #expect(try journal.sequence(ofEventsFrom: Self.time(ofEvent: 1).microseconds) == 2)
    }
}

/// A tracker that wants two events at a time.
private struct PairTracker: Tracker {
    let tracker: ScriptedTracker

    var name: String { tracker.name }
    var deliveryLimits: DeliveryLimits? { DeliveryLimits(maximumEvents: 2, linger: .zero) }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome { await tracker.deliver(delivery) }
}
