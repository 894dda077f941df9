package import EventModel
package import EventQuarantine
import EventSchema
package import EventValidation
package import Logging
import SluiceKafka
package import TrackerKit

/// A member of the consumer group of one tracker: loads the partitions that the group assigns to it into the tracker.
///
/// Its thread polls the consumer and carries out what `MemberState` decides; operations of the tracker run elsewhere and report to its
/// inbox. Polling never waits for the tracker, so a slow one does not get the member evicted; and operations that do not end make it
/// leave the group, so that others can load its partitions.
package actor GroupMember {
    typealias State = MemberState<ConsumedRecord>

    /// How long the thread waits for something to happen.
    private static let longestWait = Duration.milliseconds(100)

    private let configuration: LoaderConfiguration
    let tracker: any Tracker
    private let loading: BatchLoading
    private let logger: Logger
    private let clock: RelativeClock
    private nonisolated let inbox: MemberInbox
    private nonisolated let thread: BlockingThread
    private nonisolated let wakeup: Wakeup
    /// What others may know.
    package nonisolated let status: MemberStatus

    private var state: State
    private var log: MemberLog
    /// The operations under way of the partitions.
    private var operations: [OperationTicket: Task<Void, Never>] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates a member; `quarantine` keeps the refused records of a tracker that stores no positions, and `tombstones` are of people
    /// whose events the tracker does not get.
    ///
    /// - Throws: `unavailable` if the system refuses a thread or a pipe.
    package init(
        _ configuration: LoaderConfiguration,
        tracker: any Tracker,
        catalog: EventCatalog,
        quarantine: Quarantine,
        tombstones: TombstoneRegister = TombstoneRegister(),
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws(TrackerError) {
        var configuration = configuration
        configuration.limits = configuration.limits(of: tracker)
        self.configuration = configuration
        self.tracker = tracker
        self.clock = RelativeClock(clock)
        var logger = logger
        logger[metadataKey: "tracker"] = "\(tracker.name)"
        logger[metadataKey: "topic"] = "\(configuration.topic)"
        self.logger = logger
        log = MemberLog(logger)
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
            tombstones: tombstones,
            clock: self.clock,
            now: now
        )
        let destination = loading.destination
        state = MemberState(
            configuration,
            storesPositions: destination.storesPositions,
            lane: { destination.lane(ofPartition: $0) }
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
        let offsets: OffsetRequests
        do throws(TrackerError) {
            offsets = try consumer.makeOffsetRequests()
        } catch {
            consumer.close()
            throw error
        }
        if let cluster = await findCluster(offsets, consumer), !inbox.isStopping {
            carryOut(state.join(cluster: cluster, now: clock.now()), consumer, offsets)
        }
        var isIdle = true
        while !state.hasEnded {
            wakeup.wait(milliseconds: isIdle ? waitTime() : 0)
            isIdle = turn(consumer, offsets)
        }
        let failure = state.failure
        // The records must be released before the consumer is closed.
        state = State(
            self.configuration,
            storesPositions: loading.destination.storesPositions,
            lane: { _ in 0 }
        )
        if inbox.runningOperations == 0 {
            consumer.close()
        } else {
            // An operation that does not end uses the client, or holds its records; the group must not wait for this member.
            consumer.unsubscribe()
            consumer.unassign()
        }
        if let failure { throw failure }
    }

    /// Asks the brokers until they say which cluster they are; `nil` if the member is asked to stop before.
    private func findCluster(_ offsets: OffsetRequests, _ consumer: KafkaConsumer) async -> String? {
        while !inbox.isStopping {
            do throws(TrackerError) {
                let cluster = try await offsets.clusterID()
                log.handle(.requestSucceeded, now: clock.now())
                return cluster
            } catch {
                log.handle(.requestFailed(error), now: clock.now())
                status.set([:], .absent, isFailing: true)
                consumer.renewCredentials()
            }
            wakeup.wait(milliseconds: 100)
        }
        return nil
    }

    private func waitTime() -> Int32 {
        let now = clock.now()
        let wait = min(Self.longestWait, state.wakesAt(now: now).map { $0 - now } ?? Self.longestWait)
        return Int32((wait / .milliseconds(1)).rounded(.up))
    }

    /// Does everything that can be done now; returns whether nothing is left to do until something happens.
    private func turn(_ consumer: KafkaConsumer, _ offsets: OffsetRequests) -> Bool {
        for item in inbox.takeAll() { carryOut(handle(item), consumer, offsets) }
        while let event = consumer.poll() { carryOut(state.handle(event, now: clock.now()), consumer, offsets) }
        for answer in consumer.takeCommitAnswers() {
            carryOut(state.committed(answer, now: clock.now()), consumer, offsets)
        }
        if inbox.isStopping { carryOut(state.stop(now: clock.now()), consumer, offsets) }
        let isIdle = read(consumer, offsets)
        let hasLostAssignment = consumer.hasLostAssignment
        carryOut(state.proceed(hasLostAssignment: hasLostAssignment, now: clock.now()), consumer, offsets)
        publish(consumer)
        return isIdle
    }

    private func handle(_ item: MemberInbox.Item) -> [State.Action] {
        let now = clock.now()
        switch item {
        case .watermarks(let found, let error): return state.found(found, error, now: now)
        case .answered(let results): return state.answered(results, now: now)
        case .ended(let ticket, let result):
            operations[ticket] = nil
            return state.ended(ticket, result, now: now)
        }
    }

    /// Reads the queues of the partitions; returns whether they are empty, or nothing is wanted from them.
    private func read(_ consumer: KafkaConsumer, _ offsets: OffsetRequests) -> Bool {
        var isIdle = true
        var budget = state.readingBudget
        for number in state.readingOrder {
            let source = PartitionSource<ConsumedRecord>(
                seek: { consumer.seek(number, to: $0) },
                next: { consumer.read(number) }
            )
            let reading = state.read(number, from: source, budget: &budget, now: clock.now())
            if !reading.isIdle { isIdle = false }
            carryOut(reading.actions, consumer, offsets)
        }
        return isIdle
    }

    private func publish(_ consumer: KafkaConsumer) {
        let now = clock.now()
        status.set(
            state.partitions.mapValues { partition in
                let known = consumer.knownWatermarks(of: partition.load.partition.number)
                return MemberStatus.Partition(
                    epoch: loading.destination.storesPositions ? partition.load.epoch : nil,
                    next: partition.load.committedOffset,
                    oldest: partition.load.oldestRecord?.timestamp ?? partition.lastTimestamp,
                    watermarks: partition.watermarks?.merged(with: known),
                    halt: partition.load.halt
                )
            },
            state.membership(now: now),
            isFailing: log.isFailing
        )
    }

    // MARK: Actions

    private func carryOut(_ actions: [State.Action], _ consumer: KafkaConsumer, _ offsets: OffsetRequests) {
        for action in actions { carryOut(action, consumer, offsets) }
    }

    private func carryOut(_ action: State.Action, _ consumer: KafkaConsumer, _ offsets: OffsetRequests) {
        do throws(TrackerError) {
            switch action {
            case .assign(let numbers):
                try consumer.assign(numbers)
                log.handle(.groupAccepted, now: clock.now())
            case .assignAgain(let numbers): try consumer.assign(numbers)
            case .unassign: consumer.unassign()
            case .subscribe:
                try consumer.subscribe()
                log.handle(.subscribed, now: clock.now())
            case .unsubscribe: consumer.unsubscribe()
            case .start(let ticket, let operation, let partition, let offset):
                start(ticket, operation, partition, at: offset)
            case .ask(let operations): ask(operations, offsets)
            case .askForWatermarks(let numbers): askForWatermarks(of: numbers, offsets)
            case .cancel(let ticket): operations[ticket]?.cancel()
            case .commit(let committed): commit(committed, consumer, offsets)
            case .log(let notice): note(notice)
            }
        } catch {
            carryOut(state.refused(error, now: clock.now()), consumer, offsets)
        }
    }

    private func commit(_ committed: [Int32: Int64], _ consumer: KafkaConsumer, _ offsets: OffsetRequests) {
        do throws(TrackerError) {
            try consumer.commit(committed)
        } catch {
            carryOut(state.committed(.failure(error), now: clock.now()), consumer, offsets)
        }
    }

    private func note(_ notice: MemberNotice) {
        if case .partition(_, let notice) = notice {
            if case .loaded(let report) = notice {
                status.count(loaded: report.loaded, refused: report.refused)
                status.count(forgotten: report.forgotten)
            }
            if case .skipped(let offsets) = notice { status.count(skipped: offsets.count) }
        }
        log.handle(notice, now: clock.now())
    }

    /// Starts an operation at the destination.
    private func start(
        _ ticket: OperationTicket,
        _ operation: State.Load.Operation,
        _ partition: LoadedPartition,
        at offset: Int64
    ) {
        let loading = loading
        operations[ticket] = inbox.start {
            .ended(ticket, await loading.carryOut(operation, on: partition, at: offset))
        }
    }

    private func ask(_ operations: [(OperationTicket, State.Load.Operation)], _ offsets: OffsetRequests) {
        let (start, usesGroup) = (configuration.start, !loading.destination.storesPositions)
        inbox.start {
            let found = await offsets.watermarks(of: operations.map(\.0.partition))
            var results: [(OperationTicket, OperationResult)] = []
            for (ticket, operation) in operations {
                guard let watermarks = found[ticket.partition] else { continue }
                if case .compare(let position) = operation {
                    results.append((ticket, .watermarks(watermarks, position)))
                } else {
                    let start = await offsets.start(
                        of: ticket.partition,
                        in: watermarks,
                        start,
                        usesGroup: usesGroup
                    )
                    results.append((ticket, .located(start)))
                }
            }
            return .answered(results)
        }
    }

    private func askForWatermarks(of numbers: [Int32], _ offsets: OffsetRequests) {
        inbox.start {
            // A member without partitions has to notice an outage, too.
            if numbers.isEmpty { return .watermarks([:], await offsets.problem()) }
            let found = await offsets.watermarks(of: numbers)
            return .watermarks(found.compactMapValues { try? $0.get() }, found.values.lazy.compactMap(\.failure).first)
        }
    }
}

extension OffsetRequests {
    /// Where a loader begins that is new to a partition.
    fileprivate func start(
        of number: Int32,
        in watermarks: Result<KafkaConsumer.Watermarks, TrackerError>,
        _ start: LoaderConfiguration.Start,
        usesGroup: Bool
    ) async -> Result<PartitionStart, TrackerError> {
        do throws(TrackerError) {
            let watermarks = try watermarks.get()
            if usesGroup, let offset = try committedOffset(of: number) {
                return .success(PartitionStart(offset: offset, watermarks: watermarks, isStored: true))
            }
            var offset = watermarks.low
            if case .since(let time) = start {
                let milliseconds = time.microseconds / 1000
                offset = max(offset, try self.offset(of: number, since: milliseconds, end: watermarks.high))
            }
            return .success(PartitionStart(offset: offset, watermarks: watermarks, isStored: false))
        } catch {
            return .failure(error)
        }
    }
}

extension BatchLoading {
    /// Carries out an operation of a partition that is loaded up to an offset.
    fileprivate func carryOut(
        _ operation: PartitionLoad<ConsumedRecord>.Operation,
        on partition: LoadedPartition,
        at offset: Int64
    ) async -> OperationResult {
        switch operation {
        case .claim(let start):
            do throws(TrackerError) {
                return .claimed(.success(try await destination.claim(partition, start: start)))
            } catch {
                return .claimed(.failure(error))
            }
        case .renew(let epoch):
            do throws(TrackerError) {
                return .claimed(.success(try await destination.renew(partition, epoch: epoch, at: offset)))
            } catch {
                return .claimed(.failure(error))
            }
        case .accept(let loss, let epoch):
            do throws(TrackerError) {
                return .accepted(
                    .success(try await destination.acceptLoss(loss, of: partition, epoch: epoch)),
                    loss
                )
            } catch {
                return .accepted(.failure(error), loss)
            }
        case .load(let batch): return .loaded(await load(batch, in: partition))
        case .locate, .compare: preconditionFailure("these need the brokers")
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
