import EventPipeline
import EventQuarantine
import EventValidation
import Logging
import ServiceLifecycle
import UnixSignals

/// Moves everything a reader gives through a pipeline, and counts.
struct Replay {
    let paths: [String]
    let filter: ReplayFilter
    let rate: Int?
    let pipeline: Pipeline
    let catalog: EventCatalog
    /// What of the quarantine is read, where that is among the paths.
    let quarantine: QuarantineChoice
    /// Whether nothing is delivered or kept.
    let isDryRun: Bool
    let rejectedEvents: Quarantine
    /// The names of the trackers that are delivered to, and of all that are configured, in lower case.
    let trackers: Set<String>
    let configuredTrackers: Set<String>
    let logger: Logger

    /// Reads to the end, delivers, and stops the pipeline; SIGINT and SIGTERM end the reading early.
    ///
    /// - Throws: `PipelineError` where a tracker cannot start; `TrackerError` where there is no
    ///   thread to read on.
    func run(showsProgress: Bool) async throws -> ReplayReport {
        let start = ContinuousClock.now
        let feed = try ReplayFeed(self, start: start, showsProgress: showsProgress)
        // Services end in the reverse of this order: first the reading, then what was read is delivered.
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
        // Told to stop, the reading ends first; what it had sent by then is delivered only now.
        await feed.noteSent()
        var report = await feed.report
        report.trackers = pipeline.statistics.trackers
        report.failures += failures
        let lost = isDryRun ? 0 : rejectedEvents.statistics.lost
        if lost > 0 { report.failures.append("\(lost) rejected events could not be kept in the quarantine") }
        report.duration = ContinuousClock.now - start
        return report
    }
}
