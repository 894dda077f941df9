import EventModel
import Logging
import SluiceKafka
import TrackerKit

/// Reading the partitions' queues, and comparing positions with what Kafka has.
extension GroupMember {
    /// Takes records of a partition, at most one batch; returns whether its queue is empty, or nothing is wanted from it.
    ///
    /// - Parameter budget: How many bytes may be taken. A partition that is held up has a limit of its own.
    func read(_ number: Int32, _ consumer: KafkaConsumer, _ budget: inout Int) -> Bool {
        // Taken out, so that its buffer is not copied when it changes.
        guard var partition = partitions.removeValue(forKey: number) else { return true }
        defer { partitions[number] = partition }
        let now = clock.now()
        if let comparison = partition.comparison, now >= comparison.deadline {
            partition.comparison = nil
            partition.load.compared(.failed, now: now)
        }
        if let offset = partition.pendingSeek {
            guard now >= partition.seeksAt else { return true }
            let result = consumer.seek(number, to: offset)
            guard result == .done else {
                // An uncertain result says nothing.
                if result == .refused { partition.refusedSince = partition.refusedSince ?? now }
                if let since = partition.refusedSince, now - since >= Self.refusalTime { hasStoppedReading = true }
                partition.seeksAt = now + .milliseconds(100)
                return true
            }
            partition.pendingSeek = nil
            partition.refusedSince = nil
        }
        let isHeldUp = partition.load.isHeldUp
        for _ in 0..<configuration.limits.batchRecords {
            let wantsRecords = partition.load.wantsRecords && (isHeldUp || budget > 0)
            guard partition.pendingSeek == nil, partition.comparison != nil || wantsRecords else { return true }
            guard let message = consumer.read(number) else { return true }
            let before = partition.load.bufferedBytes
            receive(message, for: &partition, now)
            if !isHeldUp { budget -= partition.load.bufferedBytes - before }
        }
        return false
    }

    private func receive(_ message: KafkaConsumer.Message, for partition: inout AssignedPartition, _ now: Duration) {
        switch message {
        case .record(let record):
            partition.log.readingSucceeded(now: now)
            if let comparison = partition.comparison {
                finish(comparison, found: record.note, of: &partition, now)
            } else {
                let isHeldUp = partition.load.isHeldUp
                note(partition.load.receive(isHeldUp ? record.detached : record), for: &partition, now)
            }
        case .end(let offset):
            partition.log.readingSucceeded(now: now)
            if let comparison = partition.comparison {
                // Only the end of the topic is before it.
                guard offset > comparison.expected.offset else { return }
                finish(comparison, found: nil, of: &partition, now)
            } else {
                note(partition.load.reachedEnd(at: offset), for: &partition, now)
            }
        case .outOfRange:
            hasStoppedReading = true
            if partition.comparison.take() != nil {
                partition.load.compared(.failed, now: now)
            } else {
                partition.load.offsetIsGone()
            }
        case .failed(let error):
            partition.log.readingFailed(error, now: now)
            // At the end of a partition, librdkafka would not say that it can read again.
            if partition.pendingSeek == nil {
                partition.pendingSeek = partition.comparison?.expected.offset ?? partition.load.readingOffset
                partition.seeksAt = now + .seconds(1)
            }
        }
    }

    private func note(
        _ reception: PartitionLoad<ConsumedRecord>.Reception,
        for partition: inout AssignedPartition,
        _ now: Duration
    ) {
        switch reception {
        case .taken(let skipped?):
            status.count(skipped: skipped.count)
            partition.log.skipped(skipped, now: now)
        case .seek(let offset): partition.pendingSeek = offset
        case .taken(nil), .ignored: break
        }
    }

    private func finish(
        _ comparison: AssignedPartition.Comparison,
        found: RecordNote?,
        of partition: inout AssignedPartition,
        _ now: Duration
    ) {
        if found?.offset != comparison.expected.offset, !comparison.isRepeated {
            partition.comparison?.isRepeated = true
            partition.pendingSeek = comparison.expected.offset
            return
        }
        partition.comparison = nil
        guard found == comparison.expected else {
            let halt = Halt.otherRecord(expected: comparison.expected, found: found)
            return partition.load.compared(.differs(halt, restart: comparison.restart), now: now)
        }
        partition.load.compared(.matches, now: now)
    }

    /// Compares a position with the offsets that Kafka has, and begins to read the record before it.
    func compare(_ position: StoredPosition, with watermarks: KafkaConsumer.Watermarks, of number: Int32) {
        let now = clock.now()
        let next = position.nextOffset
        if let halt = Halt(at: next, watermarks: watermarks) {
            partitions[number]?.load.compared(.differs(halt, restart: watermarks.low), now: now)
        } else if let last = position.lastRecord, last.offset >= watermarks.low {
            partitions[number]?.comparison = AssignedPartition.Comparison(
                expected: last,
                restart: watermarks.low,
                deadline: now + Self.comparisonTime
            )
            partitions[number]?.pendingSeek = last.offset
        } else {
            // Retention has removed the last record that was loaded.
            partitions[number]?.pendingSeek = next
            partitions[number]?.load.compared(.matches, now: now)
        }
    }
}
