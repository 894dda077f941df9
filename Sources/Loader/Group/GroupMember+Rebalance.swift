import EventModel
import Logging
import SluiceKafka
import TrackerKit

/// Assignments and revocations.
extension GroupMember {
    func handle(_ event: KafkaConsumer.GroupEvent, _ consumer: KafkaConsumer) {
        switch event {
        case .assigned(let numbers): assign(numbers, consumer)
        case .revoked:
            logger.debug("The group takes the partitions back.", metadata: ["partitions": "\(partitions.count)"])
            releaseDeadline = clock.now() + Self.revocationTime
            for number in partitions.keys { revoke(number, deadline: releaseDeadline) }
            isReleasing = true
        case .lost:
            logger.warning(
                "The group has given this member's partitions to others; batches under way are cancelled.",
                metadata: ["partitions": "\(partitions.count)"]
            )
            giveUp()
            isAssigned = false
            uncommitted = [:]
            releaseDeadline = clock.now()
            isReleasing = true
        case .failed(let error):
            // An outage ends when requests are answered, and anything else when the group accepts the member.
            if error.isRetryable { requestLog.failed(error, now: clock.now()) } else { groupFailed(error) }
        case .ended(let error): ending = error
        }
    }

    private func assign(_ numbers: [Int32], _ consumer: KafkaConsumer) {
        guard awayUntil == nil else { return consumer.unassign() }
        // Operations of an earlier assignment that do not end would block those of this one.
        guard !hasOperations else { return leave(consumer) }
        do throws(TrackerError) {
            try consumer.assign(numbers)
        } catch {
            groupFailed(error)
            return leave(consumer)
        }
        groupLog.succeeded(now: clock.now())
        isReleasing = false
        isAssigned = true
        assignments += 1
        partitions = [:]
        watermarks = [:]
        // What could not be stored before belongs to partitions that others may have loaded further since.
        uncommitted = [:]
        for number in numbers {
            let partition = LoadedPartition(
                loader: configuration.name,
                cluster: cluster,
                topic: configuration.topic,
                number: number
            )
            partitions[number] = AssignedPartition(
                partition,
                assignment: assignments,
                limits: configuration.limits,
                logger: logger
            )
        }
        logger.info("The group has assigned partitions.", metadata: ["partitions": "\(numbers)"])
    }

    /// Assigns all partitions again if librdkafka has stopped reading one of them, because it then refuses to seek in that partition.
    func readAgain(_ consumer: KafkaConsumer) {
        let now = clock.now()
        guard hasStoppedReading, now >= readsAgainAt else { return }
        hasStoppedReading = false
        readsAgainAt = now + Self.readingPause
        guard !isReleasing, !inbox.isStopping, !consumer.hasLostAssignment else { return }
        logger.info(
            "A partition was not read any more, so all partitions are read again from their next records.",
            metadata: ["partitions": "\(partitions.keys.sorted())"]
        )
        do throws(TrackerError) {
            try consumer.assign(partitions.keys.sorted())
        } catch {
            groupFailed(error)
            return leave(consumer)
        }
        for number in partitions.keys {
            partitions[number]?.refusedSince = nil
            guard let partition = partitions[number], partition.pendingSeek == nil else { continue }
            partitions[number]?.pendingSeek = partition.comparison?.expected.offset ?? partition.load.readingOffset
        }
    }

    /// Gives revoked partitions back once their batches have ended, or their time is over.
    func release(_ consumer: KafkaConsumer) {
        let now = clock.now()
        if inbox.isStopping {
            for number in partitions.keys where partitions[number]?.load.isGivenUp == false {
                revoke(number, deadline: now + Self.revocationTime)
            }
        }
        for number in partitions.keys where partitions[number]?.load.giveUpIfOverdue(now: now) == true {
            partitions[number]?.operation?.cancel()
            logger.warning(
                "A batch of a revoked partition did not end in time and was given up.",
                metadata: ["partition": "\(number)"]
            )
        }
        // A claim that ended after the next owner's would take the partition from it.
        let isQuiet = !hasOperations || now >= releaseDeadline
        if isReleasing, isQuiet, partitions.values.allSatisfy(\.load.isGivenUp) {
            storeOffsets(consumer)
            partitions = [:]
            consumer.unassign()
            isReleasing = false
        }
        rejoin(consumer, now)
    }

    /// Lets a partition's batch end until the deadline, and cancels any other operation.
    private func revoke(_ number: Int32, deadline: Duration) {
        partitions[number]?.load.revoke(deadline: deadline)
        if partitions[number]?.load.isGivenUp == true { partitions[number]?.operation?.cancel() }
    }

    /// Joins the group again after an absence, once nothing is under way any more.
    private func rejoin(_ consumer: KafkaConsumer, _ now: Duration) {
        guard let awayUntil, now >= awayUntil, !isReleasing, !inbox.isStopping, !hasOperations
        else { return }
        do throws(TrackerError) {
            try consumer.subscribe()
            self.awayUntil = nil
            logger.notice("The member joins its group again.")
        } catch {
            groupFailed(error)
            self.awayUntil = now + Self.absence
        }
    }

    private func groupFailed(_ error: TrackerError) { groupLog.failed(error, now: clock.now()) }

    private func giveUp() {
        for number in partitions.keys {
            partitions[number]?.load.giveUp()
            partitions[number]?.operation?.cancel()
        }
    }

    /// Leaves the group if an operation does not end, since polling alone makes the member look alive, or if another loader has
    /// superseded this one in a partition and the group does not say so.
    func leaveIfStuck(_ consumer: KafkaConsumer) {
        guard awayUntil == nil, !isReleasing, !inbox.isStopping else { return }
        let now = clock.now()
        let reason: String
        if let (number, _) = partitions.first(where: { $0.value.load.isStuck(now: now) }) {
            reason = "an operation of partition \(number) does not end"
        } else if let (number, _) = partitions.first(where: { partition in
            partition.value.supersededSince.map { now >= $0 + Self.supersededTime } ?? false
        }) {
            reason = "the stored epoch of partition \(number) is another one"
        } else {
            return
        }
        logger.error(
            "The member leaves its group, so that others can load its partitions.",
            metadata: ["reason": "\(reason)"]
        )
        leave(consumer)
    }

    private func leave(_ consumer: KafkaConsumer) {
        giveUp()
        isAssigned = false
        storeOffsets(consumer)
        partitions = [:]
        uncommitted = [:]
        consumer.unsubscribe()
        consumer.unassign()
        awayUntil = clock.now() + Self.absence
    }
}
