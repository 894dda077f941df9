package import EventModel
package import EventQuarantine
import EventSchema
package import EventValidation
package import Logging
import SluiceKafka
package import TrackerKit

/// A member of the consumer group of one tracker: loads the partitions that the group assigns to it into the tracker.
///
/// Its thread polls the consumer and decides; operations of the tracker run elsewhere and report to its inbox. Polling never waits for
/// the tracker, so a slow one does not get the member evicted; and operations that do not end make it leave the group, so that others
/// can load its partitions.
package actor GroupMember {
    typealias Load = PartitionLoad<ConsumedRecord>

    /// How long the thread waits for something to happen.
    private static let longestWait = Duration.milliseconds(100)
    /// How often the group's offsets are stored in Kafka for tools that show lag.
    static let commitPause = Duration.seconds(5)
    /// How long a revoked partition may finish its batch.
    static let revocationTime = Duration.seconds(30)
    /// How long the end of the process waits for offsets to be stored in Kafka.
    static let commitTime = Duration.seconds(5)
    /// How often the brokers are asked for the ends of the partitions.
    static let watermarkPause = Duration.seconds(5)
    /// The maximum number of operations under way in each lane of the tracker: one batch is checked while another one is loaded.
    static let maximumOperations = 2
    /// How long an operation that was cancelled may take to end.
    private static let cancellationTime = Duration.seconds(3)
    /// How long the record at the stored position may take to arrive.
    static let comparisonTime = Duration.seconds(10)
    /// How long a member that another loader has superseded waits for the group to say so, until it leaves the group.
    static let supersededTime = Duration.seconds(60)
    /// How long the consumer refuses to seek in a partition until the member assumes that librdkafka has stopped reading it.
    ///
    /// The consumer also refuses briefly after an assignment.
    static let refusalTime = Duration.seconds(1)
    /// The shortest time between two attempts to read all partitions again.
    static let readingPause = Duration.seconds(1)
    /// How long a member that left the group stays away.
    static let absence = Duration.seconds(10)

    let configuration: LoaderConfiguration
    let tracker: any Tracker
    let loading: BatchLoading
    let logger: Logger
    let clock: RelativeClock
    nonisolated let inbox: MemberInbox
    private nonisolated let thread: BlockingThread
    private nonisolated let wakeup: Wakeup
    /// What others may know.
    package nonisolated let status: MemberStatus

    var partitions: [Int32: AssignedPartition] = [:]
    /// Whether the partitions are given back once their batches have ended.
    var isReleasing = false
    /// When partitions are given back even if operations are under way.
    var releaseDeadline: Duration = .zero
    /// When the member joins the group again that it has left; `nil` while it is in the group.
    var awayUntil: Duration?
    /// When the member ends even if operations are under way; `nil` unless it is asked to stop.
    private var endsAt: Duration?
    /// When the member ends even if requests to the brokers are under way; `nil` before everything else has ended.
    private var requestsEndAt: Duration?
    /// Why the consumer cannot be used any more.
    var ending: TrackerError?
    /// Whether librdkafka has stopped reading a partition, so that all of them have to be assigned to the consumer again.
    var hasStoppedReading = false
    /// They are not assigned again before this time.
    var readsAgainAt: Duration = .zero
    var cluster = ""
    var assignments = 0
    /// Whether the member has an assignment, which may be empty.
    var isAssigned = false
    /// Offsets to store in Kafka.
    var uncommitted: [Int32: Int64] = [:]
    /// When they are committed next.
    var commitsAt: Duration = .zero
    var commitFailures = FailureEpisode()
    /// How many operations are under way in each lane of the tracker, those of earlier assignments included.
    var operationCounts: [Int: Int] = [:]
    /// Whether any operation of the tracker is under way.
    var hasOperations: Bool { operationCounts.values.contains { $0 > 0 } }
    /// Whether a request of partitions to the brokers is under way.
    var asksBrokers = false
    /// The turns of the partitions in reading and loading.
    var turns = Turns()
    /// The offsets of partitions as the brokers said them last, and when they are asked again.
    var watermarks: [Int32: KafkaConsumer.Watermarks] = [:]
    var asksForWatermarksAt: Duration = .zero
    var groupLog: ReadingLog
    var requestLog: ReadingLog

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - catalog: The plan.
    ///   - quarantine: Keeps what a tracker without positions refuses.
    /// - Throws: `unavailable` if the system refuses a thread or a pipe.
    package init(
        _ configuration: LoaderConfiguration,
        tracker: any Tracker,
        catalog: EventCatalog,
        quarantine: Quarantine,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(TrackerError) {
        self.configuration = configuration
        self.tracker = tracker
        self.clock = RelativeClock(clock)
        var logger = logger
        logger[metadataKey: "tracker"] = "\(tracker.name)"
        logger[metadataKey: "topic"] = "\(configuration.topic)"
        self.logger = logger
        groupLog = ReadingLog(logger, subject: "the group")
        requestLog = ReadingLog(logger, subject: "offsets")
        thread = try BlockingThread()
        wakeup = try Wakeup()
        inbox = MemberInbox(wakeup)
        status = MemberStatus(tracker: tracker.name)
        loading = BatchLoading(
            into: tracker,
            catalog: catalog,
            quarantine: quarantine,
            owner: configuration.owner,
            limits: configuration.limits,
            clock: self.clock,
            now: now
        )
    }

    /// Asks the member to finish what is under way, give its partitions back, and end.
    package nonisolated func stop() { inbox.stop() }

    /// Joins the group, and loads until `stop` is called.
    ///
    /// The tracker must have been started.
    ///
    /// - Throws: `invalidSettings`; `unavailable` if librdkafka cannot be started or gives up.
    package func run() async throws(TrackerError) {
        let configuration = configuration.consumer(forTracker: tracker.name)
        let consumer = try KafkaConsumer(configuration, wakeup: wakeup, logger: logger)
        do throws(TrackerError) {
            let offsets = try consumer.makeOffsetRequests()
            await findCluster(offsets, consumer)
            if !inbox.isStopping { try consumer.subscribe() }
            var isIdle = true
            while !isFinished {
                wakeup.wait(milliseconds: isIdle ? waitTime() : 0)
                isIdle = turn(consumer, offsets)
            }
        } catch {
            ending = error
        }
        storeLastOffsets(consumer)
        partitions = [:]
        // An operation that does not end uses the client, or holds its records.
        if inbox.runningOperations == 0 { consumer.close() }
        if let ending { throw ending }
    }

    /// Waits until something has happened, or the time is over.
    func waitForEvents(milliseconds: Int32) {
        wakeup.wait(milliseconds: milliseconds)
    }

    private var isFinished: Bool {
        if ending != nil { return true }
        guard inbox.isStopping else { return false }
        let now = clock.now()
        let deadline = endsAt ?? now + Self.revocationTime + Self.cancellationTime
        endsAt = deadline
        guard partitions.values.allSatisfy(\.load.isGivenUp), !hasOperations else {
            return now >= deadline
        }
        // Requests to brokers that do not answer are not worth waiting for.
        let requestDeadline = requestsEndAt ?? now + Self.commitTime
        requestsEndAt = requestDeadline
        return inbox.runningOperations == 0 || now >= requestDeadline
    }

    /// Positions are kept for each cluster, because another one has other records at the same offsets.
    private func findCluster(_ offsets: OffsetRequests, _ consumer: KafkaConsumer) async {
        while !inbox.isStopping {
            do throws(TrackerError) {
                cluster = try await offsets.clusterID()
                requestLog.succeeded(now: clock.now())
                return
            } catch {
                requestLog.failed(error, now: clock.now())
                status.set([:], hasJoined: false, isFailing: true)
                consumer.renewCredentials()
            }
            wakeup.wait(milliseconds: 100)
        }
    }

    private func waitTime() -> Int32 {
        let now = clock.now()
        // What is due already waits for the end of an operation.
        let next = partitions.values.compactMap { $0.load.wakesAt(now: now) }.filter { $0 > now }.min()
        return Int32((min(Self.longestWait, next.map { $0 - now } ?? Self.longestWait) / .milliseconds(1)).rounded(.up))
    }

    /// Does everything that can be done now; returns whether nothing is left to do until something happens.
    private func turn(_ consumer: KafkaConsumer, _ offsets: OffsetRequests) -> Bool {
        for item in inbox.takeAll() { handle(item) }
        while let event = consumer.poll() { handle(event, consumer) }
        release(consumer)
        var isIdle = true
        // What is next in turn is read first, so that its batches are complete.
        var budget = configuration.limits.totalBufferedBytes - waitingBytes
        for number in turns.sorted(partitions.keys) where !read(number, consumer, &budget) { isIdle = false }
        readAgain(consumer)
        startOperations(offsets)
        for (number, partition) in partitions { partitions[number]?.log.halted(partition.load.halt) }
        leaveIfStuck(consumer)
        commitOffsets(consumer)
        askForWatermarks(offsets)
        publish(consumer)
        return isIdle
    }

    /// The bytes of records that wait for their turn.
    private var waitingBytes: Int {
        partitions.values.reduce(0) { $0 + ($1.load.isHeldUp ? 0 : $1.load.bufferedBytes) }
    }

    /// Asks the brokers for the ends of the partitions from time to time, since answers with records come only while records are taken.
    private func askForWatermarks(_ offsets: OffsetRequests) {
        let now = clock.now()
        guard now >= asksForWatermarksAt, !inbox.isStopping else { return }
        // Set again when the answer has come.
        asksForWatermarksAt = now + .seconds(3600)
        let numbers = partitions.keys.sorted()
        inbox.start {
            // A member without partitions has to notice an outage, too.
            if numbers.isEmpty { return .watermarks([:], await offsets.problem()) }
            let found = await offsets.watermarks(of: numbers)
            return .watermarks(found.compactMapValues { try? $0.get() }, found.values.lazy.compactMap(\.failure).first)
        }
    }

    private func publish(_ consumer: KafkaConsumer) {
        status.set(
            partitions.mapValues { partition in
                MemberStatus.Partition(
                    epoch: loading.destination.storesPositions ? partition.load.epoch : nil,
                    next: partition.load.committedOffset,
                    oldest: partition.load.oldestRecord?.timestamp ?? partition.lastTimestamp,
                    watermarks: watermarks[partition.load.partition.number]?
                        .merged(with: consumer.knownWatermarks(of: partition.load.partition.number)),
                    halt: partition.load.halt
                )
            },
            hasJoined: isAssigned,
            isFailing: groupLog.isFailing || requestLog.isFailing || partitions.values.contains(where: \.log.isFailing)
        )
    }
}
