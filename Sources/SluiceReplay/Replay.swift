import EventModel
package import EventPipeline
package import EventQuarantine
package import Logging
import ServiceLifecycle
package import UnixSignals

/// Sends events from their sources through a pipeline, and reports the result.
package struct Replay: Sendable {
    /// The sources, in the order in which they are read.
    package var inputs: [ReplayInput]
    /// The events of files and journals to send; `quarantineFilter` selects those of a quarantine.
    package var filter = ReplayFilter()
    /// The maximum number of events per second; `nil` for no limit.
    package var rate: Int?
    /// Whether events are only validated, and neither delivered nor quarantined.
    package var isDryRun = false
    /// The pipeline that gets the events; its catalog is what they are validated against.
    package let pipeline: Pipeline
    /// Keeps the events that are rejected.
    package let rejectedEvents: Quarantine
    /// The quarantine that is read if it is among the inputs.
    package let quarantine: any QuarantineStore
    /// The records to send of that quarantine.
    package var quarantineFilter = QuarantineFilter()
    /// The names of the trackers to deliver to, in lower case.
    package let trackers: Set<String>
    /// The names of all configured trackers, in lower case.
    package let configuredTrackers: Set<String>

    /// Creates a replay of all events of `inputs`, as fast as the pipeline accepts them.
    ///
    /// `trackers` are those to deliver to, and `configuredTrackers` all; the letter case of their names does not matter.
    package init(
        of inputs: [ReplayInput],
        through pipeline: Pipeline,
        rejectedEvents: Quarantine,
        quarantine: any QuarantineStore,
        trackers: [String],
        configuredTrackers: [String]
    ) {
        self.inputs = inputs
        self.pipeline = pipeline
        self.rejectedEvents = rejectedEvents
        self.quarantine = quarantine
        self.trackers = Set(trackers.map { $0.lowercased() })
        self.configuredTrackers = Set(configuredTrackers.map { $0.lowercased() })
    }

    /// The number of bytes to read; `nil` if that of an input is not known.
    package var byteCount: Int? {
        let counts = inputs.compactMap(\.byteCount)
        return counts.count == inputs.count ? counts.reduce(0, +) : nil
    }

    /// Reads all inputs, delivers their events, and stops the pipeline; each of `signals` ends the reading early.
    ///
    /// - Throws: `JournalError` if another process replays the same quarantine, `PipelineError` if a tracker cannot start, and
    ///   `TrackerError` if the reader's thread cannot be created.
    package func run(
        stoppingOn signals: [UnixSignal],
        progress: (any ReplayProgress)? = nil,
        logger: Logger
    ) async throws -> ReplayReport {
        let start = ContinuousClock.now
        let feed = try ReplayFeed(self, progress: progress)
        // Services are shut down in reverse order: first the reading ends, then the events that were read are delivered.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: pipeline),
                    .init(service: feed, successTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: signals,
                logger: logger
            )
        )
        var failures: [String] = []
        do {
            try await group.run()
        } catch let error as PipelineError where error.code == .trackerNotDelivering {
            failures.append(error.message)
        }
        // After a signal, the events that were read are delivered only after the reading has ended.
        await feed.storeSent()
        var report = await feed.report
        report.trackers = pipeline.statistics.trackers
        report.failures += failures
        await quarantine.close()
        // One that stores nothing does so on purpose.
        let lost = rejectedEvents.isDiscarding ? 0 : rejectedEvents.statistics.lost
        if lost > 0 { report.failures.append("\(lost.of("rejected event")) could not be kept in the quarantine") }
        report.duration = ContinuousClock.now - start
        return report
    }
}
