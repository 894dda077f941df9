import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Logging
import ServiceLifecycle
import UnixSignals

/// Sends events from their sources through a pipeline, and reports the result.
struct Replay {
    let inputs: [ReplayInput]
    let filter: ReplayFilter
    /// The maximum number of events per second; `nil` for no limit.
    let rate: Int?
    /// Whether events are only validated, and neither delivered nor quarantined.
    let isDryRun: Bool
    let pipeline: Pipeline
    let catalog: EventCatalog
    /// Keeps the events that are rejected.
    let rejectedEvents: Quarantine
    /// The quarantine that is read if it is among the inputs, and the records selected from it.
    let quarantine: any QuarantineStore
    let quarantineFilter: QuarantineFilter
    /// The names of the trackers to deliver to, in lower case.
    let trackers: Set<String>
    /// The names of all configured trackers, in lower case.
    let configuredTrackers: Set<String>
    let logger: Logger

    /// Reads all inputs, delivers their events, and stops the pipeline; SIGINT and SIGTERM end the reading early.
    ///
    /// - Throws: `PipelineError` if a tracker cannot start, and `TrackerError` if the reader's thread cannot be created.
    func run(showsProgress: Bool) async throws -> ReplayReport {
        let start = ContinuousClock.now
        let feed = try ReplayFeed(self, start: start, showsProgress: showsProgress)
        // Services are shut down in reverse order: first the reading ends, then the events that were read are delivered.
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: pipeline),
                    .init(service: feed, successTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
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
