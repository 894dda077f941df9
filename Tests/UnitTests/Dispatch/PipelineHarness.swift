import EventModel
import EventPipeline
import Journal
import Logging
import PipelineTestKit
import Synchronization
import Testing

/// A pipeline with a manual clock, full jitter and no quarantine.
struct PipelineHarness: Sendable {
    static let catalog = EventCatalog.scripted(["A": ["alpha"], "B": ["beta"], "AB": ["alpha", "beta"]])

    let clock = ManualClock()
    let pipeline: Pipeline

    init(
        _ trackers: [any Tracker],
        configuration: Pipeline.Configuration = .init(),
        quarantine: Quarantine? = nil
    ) {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        pipeline = Pipeline(
            catalog: Self.catalog,
            trackers: trackers,
            configuration: configuration,
            quarantine: quarantine ?? .discarding(logger: logger),
            logger: logger,
            clock: clock,
            jitter: { 1 }
        )
    }

    /// A pipeline with a journal; every delivery goes out without lingering.
    init(
        _ trackers: [any Tracker],
        journal files: SimulatedFileSystem,
        _ journal: JournalConfiguration = .small(),
        queue: Pipeline.Queue,
        catalog: EventCatalog = Self.catalog,
        start: JournalStart = .end,
        quarantine: Quarantine? = nil,
        log: RecordingLog = RecordingLog(),
        now: @escaping @Sendable (ManualClock) -> Timestamp = { _ in .now() }
    ) throws {
        let logger = log.logger
        let clock = clock
        pipeline = try Pipeline(
            catalog: catalog,
            trackers: trackers,
            journal: Journal(files, configuration: journal, now: 0),
            configuration: .init(
                queue: queue,
                delivery: .init(maximumEvents: 7, linger: .zero),
                journalStart: start
            ),
            quarantine: quarantine ?? .discarding(logger: logger),
            logger: logger,
            clock: clock,
            jitter: { 1 },
            now: { now(clock) }
        )
    }

    /// Runs the pipeline while `body` runs, then shuts it down and waits for its end.
    func run(_ body: (Pipeline, ManualClock) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            try await body(pipeline, clock)
            pipeline.shutdown()
            try await group.waitForAll()
        }
    }

    /// Runs the pipeline while `body` runs and its clock with it, then shuts it down and waits for its end.
    func runWithTime(_ body: (Pipeline) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            group.addTask {
                while !Task.isCancelled {
                    clock.advance(by: .milliseconds(100))
                    await Task.yield()
                }
            }
            try await body(pipeline)
            pipeline.shutdown()
            try await group.next()
            group.cancelAll()
        }
    }

    static func batch(_ name: String, _ numbers: Range<Int>) -> EventBatch {
        .scripted(catalog: catalog, events: numbers.map { ScriptedEvent(name, number: $0) })
    }
}

extension Pipeline {
    /// Submits events with these numbers as ids; they must be taken at once.
    func accept(_ name: String, _ numbers: Range<Int>, sourceLocation: SourceLocation = #_sourceLocation) {
        let ticket = submit(PipelineHarness.batch(name, numbers)) { result in
            if case .failure(let error) = result { Issue.record("\(error)", sourceLocation: sourceLocation) }
        }
        #expect(ticket == nil, sourceLocation: sourceLocation)
    }
}

extension ScriptedTracker {
    /// The numbers of the events it delivered, in order.
    var deliveredNumbers: [Int] { delivered.map { Int(truncatingIfNeeded: $0.low) } }
}
