package import SluiceKafka
import TrackerKit

/// The queue of a partition in the consumer.
package struct PartitionSource<Record> {
    /// Continues at an offset, and drops what is in the queue.
    let seek: (Int64) -> KafkaConsumer.SeekResult
    /// Takes the next message; `nil` if the queue is empty.
    let next: () -> PartitionMessage<Record>?

    package init(
        seek: @escaping (Int64) -> KafkaConsumer.SeekResult,
        next: @escaping () -> PartitionMessage<Record>?
    ) {
        self.seek = seek
        self.next = next
    }
}

/// A partition that the group has assigned to a member: what is read of it, and how it is loaded.
package struct AssignedPartition<Record: LoadableRecord>: Sendable {
    /// The comparison of the last record that was loaded with the one at its offset, which is being read.
    private struct Comparison {
        let expected: RecordNote
        /// Where loading continues if they differ and the loss is accepted.
        let restart: Int64
        let deadline: Duration
        /// Whether the record was sought a second time; a difference halts the partition, so it is confirmed first.
        var isRepeated = false
    }

    /// How long the record at the stored position may take to arrive.
    private static var comparisonTime: Duration { .seconds(10) }
    /// How long the consumer refuses to seek in a partition until the member assumes that librdkafka has stopped reading it.
    ///
    /// The consumer also refuses briefly after an assignment.
    private static var refusalTime: Duration { .seconds(1) }
    private static var seekPause: Duration { .milliseconds(100) }
    /// How long after a failure to read a partition it is sought again.
    private static var failurePause: Duration { .seconds(1) }

    package internal(set) var load: PartitionLoad<Record>
    /// Tells the results of its operations from those of an earlier assignment.
    package let assignment: Int
    /// Where loading begins if no position is stored; `nil` before it was looked for.
    private var start: PartitionStart?
    /// Its offsets as the brokers reported them last.
    package internal(set) var watermarks: KafkaConsumer.Watermarks?
    /// When the last record was written that is loaded, in milliseconds since 1970.
    package private(set) var lastTimestamp: Int64?
    /// Since when the stored epoch is known to be another one.
    private(set) var supersededSince: Duration?
    /// Whether librdkafka has stopped reading it, so that it has to be assigned to the consumer again.
    private(set) var hasStopped = false
    private var comparison: Comparison?
    /// Where the consumer has to continue before anything is read.
    private var pendingSeek: Int64?
    /// Seeks are not tried before this time.
    private var seeksAt: Duration = .zero
    /// Since when the consumer has refused to seek.
    private var refusedSince: Duration?
    private var isReadingFailing = false
    /// The halt that was reported last.
    private var reportedHalt: Halt?

    init(_ partition: LoadedPartition, assignment: Int, limits: LoadLimits) {
        load = PartitionLoad(partition, limits: limits)
        self.assignment = assignment
    }

    // MARK: Reading

    /// Takes records, at most one batch; returns whether the queue is empty, or nothing is wanted from it.
    ///
    /// `budget` is the number of bytes that may be taken, and is reduced by those that are; a partition that is held up has a limit
    /// of its own instead. What has to be logged is appended to `notices`.
    mutating func read(
        _ source: PartitionSource<Record>,
        atMost count: Int,
        budget: inout Int,
        _ notices: inout [PartitionNotice],
        now: Duration
    ) -> Bool {
        if let comparison, now >= comparison.deadline {
            self.comparison = nil
            load.compared(.failed, now: now)
        }
        guard seek(source, now: now) else { return true }
        defer { load.startLinger(now: now) }
        let isHeldUp = load.isHeldUp
        for _ in 0..<count {
            let wantsRecords = load.wantsRecords && (isHeldUp || budget > 0)
            guard pendingSeek == nil, comparison != nil || wantsRecords, let message = source.next() else {
                return true
            }
            let before = load.bufferedBytes
            receive(message, &notices, now: now)
            if !isHeldUp { budget -= load.bufferedBytes - before }
        }
        return false
    }

    /// Seeks where that is due; returns whether records can be read.
    private mutating func seek(_ source: PartitionSource<Record>, now: Duration) -> Bool {
        guard let offset = pendingSeek else { return true }
        guard now >= seeksAt else { return false }
        let result = source.seek(offset)
        guard result == .done else {
            // An uncertain result says nothing.
            if result == .refused { refusedSince = refusedSince ?? now }
            if let refusedSince, now - refusedSince >= Self.refusalTime { hasStopped = true }
            seeksAt = now + Self.seekPause
            return false
        }
        pendingSeek = nil
        refusedSince = nil
        return true
    }

    private mutating func receive(
        _ message: PartitionMessage<Record>,
        _ notices: inout [PartitionNotice],
        now: Duration
    ) {
        switch message {
        case .record(let record):
            readingSucceeded(&notices)
            if let comparison {
                finish(comparison, found: record.note, now: now)
            } else {
                handle(load.receive(load.isHeldUp ? record.detached : record), &notices)
            }
        case .end(let offset):
            readingSucceeded(&notices)
            if let comparison {
                // Only the end of the topic is before it.
                guard offset > comparison.expected.offset else { return }
                finish(comparison, found: nil, now: now)
            } else {
                handle(load.reachedEnd(at: offset), &notices)
            }
        case .outOfRange:
            hasStopped = true
            if comparison.take() != nil {
                load.compared(.failed, now: now)
            } else {
                load.offsetIsGone()
            }
        case .failed(let error):
            isReadingFailing = true
            notices.append(.readingFailed(error))
            // At the end of a partition, librdkafka would not say that it can read again.
            if pendingSeek == nil {
                pendingSeek = comparison?.expected.offset ?? load.readingOffset
                seeksAt = now + Self.failurePause
            }
        }
    }

    private mutating func readingSucceeded(_ notices: inout [PartitionNotice]) {
        guard isReadingFailing else { return }
        isReadingFailing = false
        notices.append(.readingSucceeded)
    }

    private mutating func handle(_ reception: PartitionLoad<Record>.Reception, _ notices: inout [PartitionNotice]) {
        switch reception {
        case .taken(let skipped?): notices.append(.skipped(skipped))
        case .seek(let offset): pendingSeek = offset
        case .taken(nil), .ignored: break
        }
    }

    /// Continues after the consumer has been assigned the partition again.
    mutating func readAgain() {
        hasStopped = false
        refusedSince = nil
        if pendingSeek == nil { pendingSeek = comparison?.expected.offset ?? load.readingOffset }
    }

    // MARK: Comparing

    /// Compares a position with the offsets that Kafka has, and begins to read the record before it.
    private mutating func compare(_ position: StoredPosition, with found: KafkaConsumer.Watermarks, now: Duration) {
        let next = position.nextOffset
        if let halt = Halt(at: next, watermarks: found) {
            load.compared(.differs(halt, restart: found.low), now: now)
        } else if let last = position.lastRecord, last.offset >= found.low {
            comparison = Comparison(
                expected: last,
                restart: found.low,
                deadline: now + Self.comparisonTime
            )
            pendingSeek = last.offset
        } else {
            // Retention has removed the last record that was loaded.
            pendingSeek = next
            load.compared(.matches, now: now)
        }
    }

    private mutating func finish(_ comparison: Comparison, found: RecordNote?, now: Duration) {
        if found?.offset != comparison.expected.offset, !comparison.isRepeated {
            self.comparison?.isRepeated = true
            pendingSeek = comparison.expected.offset
            return
        }
        self.comparison = nil
        guard found == comparison.expected else {
            let halt = Halt.otherRecord(expected: comparison.expected, found: found)
            return load.compared(.differs(halt, restart: comparison.restart), now: now)
        }
        load.compared(.matches, now: now)
    }

    // MARK: Operations

    /// Why the partition is halted, if that has changed since the last call.
    mutating func takeHaltChange() -> Halt?? {
        let halt = load.halt
        guard halt != reportedHalt else { return nil }
        reportedHalt = halt
        return .some(halt)
    }

    /// An operation has ended; returns up to where the partition is loaded, if the operation has moved that.
    ///
    /// What has to be logged is appended to `notices`.
    mutating func finish(
        _ result: OperationResult,
        storesPositions: Bool,
        _ notices: inout [PartitionNotice],
        now: Duration
    ) -> Int64? {
        switch result {
        case .located(let result):
            start = try? result.get()
            watermarks = start?.watermarks ?? watermarks
            load.located(start?.offset, now: now)
        case .watermarks(let result, let position):
            if let found = try? result.get() {
                watermarks = found
                compare(position, with: found, now: now)
            } else {
                load.compared(.failed, now: now)
            }
        case .claimed(let result): claimed(result, storesPositions: storesPositions, &notices, now: now)
        case .accepted(let result, let loss):
            let isStored = try? result.get()
            load.accepted(isStored: isStored, now: now)
            ended(result.failure, &notices)
            guard isStored == true else { return nil }
            notices.append(.accepted(loss))
            return loss.next
        case .loaded(let report):
            load.loaded(report.outcome, now: now)
            if let offset = load.takeSeek() { pendingSeek = offset }
            ended(report.error, &notices)
            lastTimestamp = report.lastTimestamp ?? lastTimestamp
            notices.append(.loaded(report))
            return load.committedOffset
        }
        return nil
    }

    private mutating func claimed(
        _ result: Result<PartitionClaim?, TrackerError>,
        storesPositions: Bool,
        _ notices: inout [PartitionNotice],
        now: Duration
    ) {
        let isRenewal = load.epoch != nil
        switch result {
        case .success(let claim?):
            load.claimed(.granted(epoch: claim.epoch, claim.position), now: now)
            lastTimestamp = claim.position.lastRecord?.timestamp ?? lastTimestamp
            if !isRenewal {
                let isFirst = storesPositions ? claim.epoch == 1 : start?.isStored == false
                notices.append(.claimed(claim.position, from: isFirst ? start : nil))
                compareAtOnce(claim.position, now: now)
            }
        case .success(nil):
            load.claimed(.superseded, now: now)
            supersededSince = now
            notices.append(.superseded)
        case .failure: load.claimed(.failed, now: now)
        }
        ended(result.failure, &notices)
    }

    /// Compares a position with the offsets that were found before the claim, if it is between them.
    ///
    /// Otherwise the brokers have to be asked again, because the earlier owner may have loaded later records meanwhile.
    private mutating func compareAtOnce(_ position: StoredPosition, now: Duration) {
        guard let watermarks, Halt(at: position.nextOffset, watermarks: watermarks) == nil,
            case .compare = load.nextOperation(now: now)
        else { return }
        compare(position, with: watermarks, now: now)
    }

    /// What was under way in a partition that was given up was cancelled, which is no failure.
    private func ended(_ error: TrackerError?, _ notices: inout [PartitionNotice]) {
        if !load.isGivenUp, error != nil || !load.isFailing { notices.append(.ended(error)) }
    }
}
