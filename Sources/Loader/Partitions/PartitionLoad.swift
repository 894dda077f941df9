import DequeModule
package import TrackerKit

/// What a loader does with one partition of its assignment, as a value: it decides, and others carry out.
///
/// Kafka decides who should load a partition, and the destination decides who may: each claim raises the partition's epoch there, and a
/// batch is committed only under the epoch and from the offset that this loader knows. One operation of a partition is under way at
/// a time. Time is an argument.
package struct PartitionLoad<Record: LoadableRecord>: Sendable {
    private enum Phase: Sendable {
        /// Before the claim. Can transition to: claiming.
        case locating
        /// Can transition to: comparing, when the claim is granted.
        case claiming(start: Int64)
        /// The commit of a batch is in doubt, the destination had another position, Kafka does not have the fetch offset, or the
        /// position was not read for long. Can transition to: comparing, when the epoch is the same; loading, when the position is,
        /// too; given up, when the epoch is not.
        case renewing
        /// Can transition to: loading; halted or accepting, when Kafka does not have what the position refers to.
        case comparing(StoredPosition)
        /// Can transition to: comparing; renewing, when the destination had another position.
        case accepting(AcceptedLoss)
        /// Can transition to: renewing, when a batch was not committed for a reason other than a failure, when Kafka does not have the
        /// fetch offset, or when nothing was committed for long.
        case loading
        /// An operator has to decide. Final for this assignment.
        case halted(Halt)
        /// The partition is revoked, lost, or another loader's. Final for this assignment.
        case givenUp
    }

    package let partition: LoadedPartition
    private let limits: LoadLimits
    private var phase = Phase.locating
    /// The epoch of the claim; `nil` before it.
    package private(set) var epoch: Int64?
    /// The offset of the first record that is not committed.
    private var next: Int64 = 0
    /// The offset of the next record to take from Kafka.
    private var expected: Int64 = 0
    private var buffer: Deque<Record> = []
    /// The bytes of the records that wait for their transaction, those of the batch under way included.
    package private(set) var bufferedBytes = 0
    /// Since when records wait that are in no batch; `nil` if there are none.
    private var waitsSince: Duration?
    /// The offset to which the partition was sought because of a gap; a second gap there is accepted.
    private var seekTarget: Int64?
    /// Whether Kafka does not have the offset from which records are fetched.
    private var isOffsetGone = false
    /// Whether records were dropped that Kafka has to send again.
    private var isTrimmed = false
    /// When the operation under way began; `nil` if there is none.
    private var busySince: Duration?
    private var batchUnderWay: Batch?
    /// When the destination last had the position `next`.
    private var confirmedAt: Duration = .zero
    /// Whether the position that is being read is expected to be `next`, after which the buffer follows.
    private var isConfirming = false
    private var failures = 0
    /// Nothing is tried before this time.
    private var pausesUntil: Duration = .zero
    /// The record that waits for a loader with its plan, and until when.
    private var otherPlan: (offset: Int64, until: Duration)?
    private var broken: BrokenParts
    /// How many records the next batch has at most.
    private var batchRecords: Int
    /// How many refused records the destination keeps, if it takes no more.
    private var refusedLimit: Int?
    /// When the revoked partition must be given up, even if a batch is under way.
    private var releaseDeadline: Duration?

    /// Begins with a partition that Kafka has assigned.
    package init(_ partition: LoadedPartition, limits: LoadLimits) {
        self.partition = partition
        self.limits = limits
        batchRecords = limits.batchRecords
        broken = BrokenParts(limits: limits)
    }

    // MARK: State

    /// Why the partition is not loaded until an operator decides; `nil` if nothing is wrong.
    package var halt: Halt? {
        if case .halted(let halt) = phase { halt } else { refusedLimit.map { .refusedFull(limit: $0) } }
    }
    /// Whether the partition is revoked, lost, or another loader's; an operation may still be under way.
    package var isGivenUp: Bool { if case .givenUp = phase { true } else { false } }
    /// Whether the last operation has failed.
    package var isFailing: Bool { failures > 0 }
    /// Whether records wait for longer than the destination needs to load them.
    package var isHeldUp: Bool { failures > 0 || otherPlan != nil || refusedLimit != nil }
    /// Whether records are wanted from Kafka.
    package var wantsRecords: Bool {
        guard case .loading = phase, releaseDeadline == nil, !isOffsetGone else { return false }
        return bufferedBytes < (isHeldUp ? limits.heldUpBytes : limits.bufferedBytes)
            && buffer.count < limits.bufferedRecords
    }
    /// The offset of the first record that is not committed; `nil` before the claim.
    package var committedOffset: Int64? { epoch == nil ? nil : next }
    /// The offset of the next record to take from Kafka; `nil` if another one is sought before records are wanted.
    package var readingOffset: Int64? {
        if isOffsetGone { return nil }
        return switch phase {
        case .loading: expected
        case .renewing: isConfirming ? expected : nil
        case .locating, .claiming, .comparing, .accepting, .halted, .givenUp: nil
        }
    }
    /// The first record that was read and is not committed.
    package var oldestRecord: Record? { buffer.first }

    // MARK: Decisions

    /// What the next operation needs; `nil` if there is none now.
    ///
    /// With `lingers`, an incomplete batch waits for more records first.
    package func demand(now: Duration, lingers: Bool = true) -> Demand? {
        guard busySince == nil, now >= pausesUntil, releaseDeadline == nil else { return nil }
        return switch phase {
        case .locating, .comparing: .kafka
        case .claiming, .renewing, .accepting: .claim
        case .loading where isOffsetGone: .claim
        case .loading where expected > next && !isWaiting(now: now) && !(lingers && isLingering(now: now)): .load
        case .loading: now >= confirmedAt + limits.confirmAfter ? .claim : nil
        case .halted, .givenUp: nil
        }
    }

    /// Whether the next record waits for a loader with its plan.
    private func isWaiting(now: Duration) -> Bool {
        otherPlan.map { $0.offset == next && now < $0.until } ?? false
    }

    private func isLingering(now: Duration) -> Bool { lingerEnd.map { now < $0 } ?? false }

    /// When an incomplete batch is loaded anyway; `nil` if the next batch is complete, is repeated, or has no records.
    private var lingerEnd: Duration? {
        guard let waitsSince, !isHeldUp, buffer.count < batchRecords, bufferedBytes < limits.batchBytes else {
            return nil
        }
        return waitsSince + limits.linger
    }

    /// The next operation, which is under way from now on; `nil` if there is none now.
    package mutating func nextOperation(now: Duration) -> Operation? {
        guard busySince == nil, now >= pausesUntil, releaseDeadline == nil else { return nil }
        if case .loading = phase {
            // A database that was restored has another position, which nobody would notice while there are no records.
            isConfirming = !isOffsetGone && demand(now: now) == .claim
            if isOffsetGone || isConfirming { phase = .renewing }
        }
        let operation: Operation
        switch phase {
        case .locating: operation = .locate
        case .claiming(let start): operation = .claim(start: start)
        case .renewing: operation = .renew(epoch: epoch ?? 0)
        case .comparing(let position): operation = .compare(position)
        case .accepting(let loss): operation = .accept(loss, epoch: epoch ?? 0)
        case .loading:
            broken.forgetExpired(now: now, isFailing: isFailing)
            guard let batch = nextBatch(now: now) else { return nil }
            batchUnderWay = batch
            waitsSince = batch.records.count < buffer.count ? now : nil
            operation = .load(batch)
        case .halted, .givenUp: return nil
        }
        busySince = now
        return operation
    }

    /// When `nextOperation` may have something to do without anything else happening; `nil` for never.
    package func wakesAt(now: Duration) -> Duration? {
        guard busySince == nil else { return nil }
        if pausesUntil > now { return pausesUntil }
        guard case .loading = phase else { return nil }
        let confirms = confirmedAt + limits.confirmAfter
        if let lingerEnd, lingerEnd > now { return min(lingerEnd, confirms) }
        guard let otherPlan, otherPlan.offset == next else { return confirms }
        return min(otherPlan.until, confirms)
    }

    private func nextBatch(now: Duration) -> Batch? {
        guard !isWaiting(now: now) else { return nil }
        var bytes = 0
        let records = buffer.prefix { record in
            bytes += record.byteCount
            return bytes <= limits.batchBytes
        }.prefix(batchRecords)
        // A single record may exceed the limit.
        let taken = records.isEmpty ? Array(buffer.prefix(1)) : Array(records)
        // The offsets before the next record are skipped together with the records before them.
        let end = taken.count == buffer.count ? expected : buffer[taken.count].offset
        guard end > next else { return nil }
        return Batch(
            epoch: epoch ?? 0,
            start: next,
            end: end,
            records: taken,
            refusing: broken.refusing(now: now),
            brokenAt: broken.triedAt
        )
    }

    // MARK: Results

    /// The first offset for a loader that is new to the partition; `nil` if Kafka did not answer.
    package mutating func located(_ start: Int64?, now: Duration) {
        guard end(now: now, failed: start == nil), let start else { return }
        failures = 0
        phase = .claiming(start: start)
    }

    /// A claim or a renewal has ended.
    package mutating func claimed(_ outcome: ClaimOutcome, now: Duration) {
        var hasFailed = false
        if case .failed = outcome { hasFailed = true }
        guard end(now: now, failed: hasFailed) else { return }
        switch outcome {
        case .granted(let epoch, let position):
            let isConfirmed = isConfirming && position.nextOffset == next
            // A renewal after a failure says nothing about the next batch.
            if isConfirmed || self.epoch == nil { failures = 0 }
            isConfirming = false
            confirmedAt = now
            self.epoch = epoch
            if isConfirmed {
                phase = .loading
                return
            }
            next = position.nextOffset
            dropBuffer()
            phase = .comparing(position)
        case .superseded: giveUp()
        case .failed: break
        }
    }

    /// A comparison has ended.
    package mutating func compared(_ comparison: Comparison, now: Duration) {
        var hasFailed = false
        if case .failed = comparison { hasFailed = true }
        guard end(now: now, failed: hasFailed) else { return }
        switch comparison {
        case .matches: phase = .loading
        case .differs(let halt, let restart):
            phase =
                limits.acceptsLoss
                ? .accepting(AcceptedLoss(first: next, next: restart, reason: "\(halt)"))
                : .halted(halt)
        case .failed: break
        }
    }

    /// The acceptance of a loss has ended; `isStored` is `nil` if it failed, and false if the position or the epoch is another one.
    package mutating func accepted(isStored: Bool?, now: Duration) {
        guard end(now: now, failed: isStored == nil), case .accepting(let loss) = phase, let isStored else { return }
        guard isStored else {
            phase = .renewing
            return
        }
        next = loss.next
        dropBuffer()
        phase = .comparing(StoredPosition(nextOffset: next, lastRecord: nil))
    }

    /// A batch has ended.
    package mutating func loaded(_ outcome: LoadOutcome, now: Duration) {
        guard let batch = batchUnderWay.take() else { return }
        var outcome = outcome
        // There may be room for the refused records of a part, which would otherwise wait for room for all of them.
        if case .refusedFull = outcome, batch.records.count > 1 { outcome = .tooLarge }
        broken.forgetExpired(now: now, isFailing: isFailing)
        let isOurs = end(now: now, failed: outcome.isFailure)
        switch outcome {
        case .committed(let end, let parts, let wait):
            commit(before: end)
            if end > batch.start {
                failures = 0
                confirmedAt = now
                // Slowly, because a batch that is too large costs its time.
                batchRecords = min(limits.batchRecords, batchRecords + max(1, limits.batchRecords / 20))
                refusedLimit = nil
            }
            if end > batch.start { broken.committed(refusing: batch.refusing, parts, now: now) }
            otherPlan = wait.map { (end, now + $0) }
        case .superseded, .unknown:
            isConfirming = false
            if isOurs { phase = .renewing }
        case .broken(let parts, let acceptsOthers):
            // The records behind them wait no longer than necessary.
            if let due = broken.broken(parts, acceptsOthers: acceptsOthers, now: now), now < due {
                pausesUntil = min(pausesUntil, due)
            }
        case .tooLarge: batchRecords = max(1, min(batchRecords, batch.records.count) / 2)
        case .timedOut:
            broken.outage()
            batchRecords = max(1, min(batchRecords, batch.records.count) / 2)
        case .refusedFull(let limit): refusedLimit = limit
        case .failed: broken.outage()
        }
        if releaseDeadline != nil { giveUp() }
        if isHeldUp { trimBuffer() }
    }

    /// Drops what exceeds the limit of a partition that is held up; Kafka has to send it again.
    private mutating func trimBuffer() {
        while bufferedBytes > limits.heldUpBytes, buffer.count > 1, let last = buffer.popLast() {
            bufferedBytes -= last.byteCount
            expected = last.offset
            seekTarget = nil
            isTrimmed = true
        }
    }

    /// Where Kafka has to continue, if records were dropped since the last call.
    package mutating func takeSeek() -> Int64? {
        defer { isTrimmed = false }
        return isTrimmed ? expected : nil
    }

    private mutating func commit(before end: Int64) {
        guard end > next else { return }
        next = end
        while let first = buffer.first, first.offset < end {
            bufferedBytes -= first.byteCount
            buffer.removeFirst()
        }
        expected = max(expected, end)
    }

    /// Ends the operation under way; returns whether its result still matters.
    private mutating func end(now: Duration, failed: Bool) -> Bool {
        busySince = nil
        if failed {
            failures += 1
            pausesUntil = now + limits.pause(afterFailures: failures, now: now)
        }
        if isGivenUp { return false }
        return true
    }

    // MARK: Kafka

    /// Kafka has sent a record.
    package mutating func receive(_ record: Record) -> Reception {
        guard case .loading = phase, releaseDeadline == nil, record.offset >= expected else { return .ignored }
        let skipped = expected..<record.offset
        guard skipped.isEmpty || acceptsGap() else { return .seek(expected) }
        seekTarget = nil
        expected = record.offset + 1
        buffer.append(record)
        bufferedBytes += record.byteCount
        return .taken(skipped: skipped.isEmpty ? nil : skipped)
    }

    /// Records that were received wait for more from now on, unless others have been waiting already.
    package mutating func startLinger(now: Duration) {
        if waitsSince == nil, buffer.count > batchUnderWay?.records.count ?? 0 { waitsSince = now }
    }

    /// Kafka has no record before this offset that was not sent.
    package mutating func reachedEnd(at offset: Int64) -> Reception {
        guard case .loading = phase, releaseDeadline == nil, offset > expected else { return .ignored }
        guard acceptsGap() else { return .seek(expected) }
        seekTarget = nil
        defer { expected = offset }
        return .taken(skipped: expected..<offset)
    }

    /// Whether the expected offset belongs to no record: if it is missing again after the partition was sought to it.
    private mutating func acceptsGap() -> Bool {
        defer { seekTarget = expected }
        return seekTarget == expected
    }

    /// Kafka does not have the offset from which records are fetched: the position is read and compared again.
    package mutating func offsetIsGone() {
        if case .loading = phase { isOffsetGone = true }
    }

    /// Kafka takes the partition away; a batch under way may end until the deadline.
    package mutating func revoke(deadline: Duration) {
        guard batchUnderWay != nil, busySince != nil else { return giveUp() }
        guard releaseDeadline == nil else { return }
        releaseDeadline = deadline
        dropBuffer()
    }

    /// Gives up a revoked partition whose deadline has passed; returns whether it has.
    package mutating func giveUpIfOverdue(now: Duration) -> Bool {
        guard let releaseDeadline, now >= releaseDeadline else { return false }
        giveUp()
        return true
    }

    /// Whether an operation has been under way for longer than the limit, so that the loader must not keep the partition.
    package func isStuck(now: Duration) -> Bool {
        busySince.map { now - $0 >= limits.stuckAfter } ?? false
    }

    /// Ends the work on the partition: nothing more is committed, except a batch under way that cannot be stopped any more.
    package mutating func giveUp() {
        phase = .givenUp
        releaseDeadline = nil
        dropBuffer()
    }

    private mutating func dropBuffer() {
        buffer = []
        waitsSince = nil
        bufferedBytes = 0
        expected = next
        seekTarget = nil
        isOffsetGone = false
        isTrimmed = false
    }
}
