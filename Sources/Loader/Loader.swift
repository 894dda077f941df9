package import EventModel
package import EventQuarantine
package import EventValidation
package import Logging
import SluiceKafka
package import TrackerKit

/// Loads a topic into several trackers, each as a member of a consumer group of its own, so that one that fails is lag for that
/// tracker only.
package final class Loader: Sendable {
    package let configuration: LoaderConfiguration
    package let members: [GroupMember]
    /// The tombstones of people whose events no tracker gets; none unless the process sets them.
    package let tombstones = TombstoneRegister()
    private let catalog: EventCatalog
    private let quarantine: Quarantine
    private let clock: RelativeClock
    private let logger: Logger

    /// Makes a member for each tracker, which does nothing yet.
    ///
    /// - Throws: `invalidSettings` if librdkafka or a tracker does not accept its settings; `unavailable` if the system refuses a
    ///   thread.
    package init(
        _ configuration: LoaderConfiguration,
        trackers: [any Tracker],
        catalog: EventCatalog,
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(TrackerError) {
        self.configuration = configuration
        self.catalog = catalog
        self.quarantine = quarantine
        self.clock = RelativeClock(clock)
        self.logger = logger
        var members: [GroupMember] = []
        for tracker in trackers {
            try tracker.checkSettings(for: catalog.visible(to: tracker.name))
            try configuration.consumer(forTracker: tracker.name).check()
            members.append(
                try GroupMember(
                    configuration,
                    tracker: tracker,
                    catalog: catalog,
                    quarantine: quarantine,
                    tombstones: tombstones,
                    logger: logger,
                    clock: clock,
                    now: now
                )
            )
        }
        self.members = members
    }

    /// Loads until the task is cancelled; then batches under way are finished, and partitions given back.
    ///
    /// - Throws: `invalidSettings` if librdkafka does not accept the settings; `unavailable` if it cannot be started or gives up.
    package func run() async throws {
        let expiring = Task { [quarantine] in await quarantine.keepRemovingExpired() }
        defer { expiring.cancel() }
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for member in members {
                    group.addTask { try await self.run(member) }
                }
                // If one member cannot run at all, the process ends and says so, instead of loading a part.
                do {
                    try await group.waitForAll()
                } catch {
                    for member in members { member.stop() }
                    throw error
                }
            }
        } onCancel: {
            for member in members { member.stop() }
        }
    }

    private func run(_ member: GroupMember) async throws {
        let tracker = member.tracker
        var failure: TrackerError?
        if await start(member) {
            do throws(TrackerError) {
                try await member.run()
            } catch {
                logger.error(
                    "A member of a consumer group has failed, so the loader ends.",
                    metadata: ["tracker": "\(tracker.name)", "error": "\(error)"]
                )
                failure = error
            }
        }
        await tracker.stop()
        if let failure { throw failure }
    }

    /// Starts a tracker, however long that takes; returns false if the task was cancelled before.
    private func start(_ member: GroupMember) async -> Bool {
        let tracker = member.tracker
        var failures = FailureEpisode()
        var attempts = 0
        while !Task.isCancelled {
            do throws(TrackerError) {
                try await tracker.start(for: catalog.visible(to: tracker.name))
                member.status.set([:], .absent, isFailing: false)
                if let summary = failures.ended(now: clock.now()) {
                    logger.notice(
                        "The tracker has started; its member joins the group.",
                        metadata: ["tracker": "\(tracker.name)", "seconds": "\(summary.duration.loggedSeconds)"]
                    )
                }
                return true
            } catch {
                member.status.set([:], .absent, isFailing: true)
                if let summary = failures.failed(because: error.code.description, now: clock.now()) {
                    logger.error(
                        "A tracker cannot start, so its events wait in Kafka; the loader keeps trying.",
                        metadata: [
                            "tracker": "\(tracker.name)", "error": "\(error)", "failures": "\(summary.count)",
                        ]
                    )
                }
            }
            attempts += 1
            let now = clock.now()
            try? await clock.sleepUntil(now + configuration.limits.pause(afterFailures: attempts, now: now))
        }
        return false
    }
}
