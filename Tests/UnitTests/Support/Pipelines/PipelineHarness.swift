package import EventJournal
import EventModel
package import EventPipeline
package import EventQuarantine
package import EventValidation
import Logging
package import SluiceTesting
import Synchronization
package import Testing
package import TrackerKit

/// A pipeline with a manual clock, full jitter and no quarantine.
package struct PipelineHarness: Sendable {
    package static let catalog = EventCatalog.scripted(["A": ["alpha"], "B": ["beta"], "AB": ["alpha", "beta"]])

    /// A time limit that the journal's threads never reach, although the clock of `runWithTime` runs faster than they do.
    package static let never = Duration.seconds(365 * 86_400)

    package let clock = ManualClock()
    package let pipeline: Pipeline
    /// The gates at which the journal's syncs and writes hang; a pipeline does not end while they hang.
    private let gates: [Gate]

    package init(
        _ trackers: [any Tracker],
        configuration: Pipeline.Configuration = .init(),
        catalog: EventCatalog = Self.catalog,
        quarantine: Quarantine? = nil
    ) throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        gates = []
        pipeline = try Pipeline(
            catalog: catalog,
            trackers: trackers,
            configuration: configuration,
            quarantine: quarantine ?? .discarding(logger: logger),
            logger: logger,
            clock: clock,
            jitter: { 1 }
        )
    }

    /// A pipeline with a journal; by default, deliveries do not linger.
    package init(
        _ trackers: [any Tracker],
        journal files: any FileSystem,
        _ journal: JournalConfiguration = .small(),
        queue: Pipeline.Queue,
        catalog: EventCatalog = Self.catalog,
        start: JournalStart = .end,
        deliveryByTracker: [String: DeliveryLimits] = [:],
        quarantine: Quarantine? = nil,
        log: RecordingLog = RecordingLog(),
        openedAt: Int64 = 0,
        linger: Duration = .zero,
        commitOverdueAfter: Duration = Self.never
    ) throws {
        let logger = log.logger
        let clock = clock
        gates = (files as? SimulatedFileSystem).map { [$0.syncs, $0.writes] } ?? []
        pipeline = try Pipeline(
            catalog: catalog,
            trackers: trackers,
            journal: Journal(files, configuration: journal, now: openedAt),
            configuration: .init(
                queue: queue,
                delivery: .init(maximumEvents: 7, linger: linger),
                deliveryByTracker: deliveryByTracker,
                cancellationGrace: Self.never,
                commitOverdueAfter: commitOverdueAfter,
                journalStart: start
            ),
            quarantine: quarantine ?? .discarding(logger: logger),
            logger: logger,
            clock: clock,
            jitter: { 1 }
        )
    }

    /// Runs the pipeline while `body` runs, then shuts it down and waits for its end.
    package func run(_ body: (Pipeline, ManualClock) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            try await openingGates { try await body(pipeline, clock) }
            pipeline.shutdown()
            try await group.waitForAll()
        }
    }

    /// Releases hanging syncs and writes if `body` fails or is cancelled, because the test would not end otherwise.
    private func openingGates(_ body: () async throws -> Void) async throws {
        try await withTaskCancellationHandler {
            do {
                try await body()
            } catch {
                gates.forEach { $0.open() }
                throw error
            }
        } onCancel: {
            gates.forEach { $0.open() }
        }
    }

    /// Runs the pipeline and its clock while `body` runs, then shuts the pipeline down and waits for its end.
    package func runWithTime(_ body: (Pipeline) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            group.addTask {
                while !Task.isCancelled {
                    clock.advance(by: .milliseconds(100))
                    await Task.yield()
                }
            }
            try await openingGates { try await body(pipeline) }
            pipeline.shutdown()
            try await group.next()
            group.cancelAll()
        }
    }

    package static func batch(_ name: String, _ numbers: Range<Int>) -> EventBatch {
        .scripted(catalog: catalog, events: numbers.map { ScriptedEvent(name, number: $0) })
    }
}

extension Pipeline {
    /// Submits events with these numbers as ids, which must be accepted at once.
    package func accept(_ name: String, _ numbers: Range<Int>, sourceLocation: SourceLocation = #_sourceLocation) {
        let ticket = submit(PipelineHarness.batch(name, numbers)) { result in
            if case .failure(let error) = result { Issue.record("\(error)", sourceLocation: sourceLocation) }
        }
        #expect(ticket == nil, sourceLocation: sourceLocation)
    }
}

extension ScriptedTracker {
    /// The numbers of the delivered events, in order.
    package var deliveredNumbers: [Int] { delivered.map { Int(truncatingIfNeeded: $0.low) } }
}
