import DequeModule
import EventModel
import EventQuarantine
import SluiceKafka
import Synchronization
import TrackerKit

/// A tracker that stores no positions: its group commits them to Kafka after each batch, and refused records are kept in the local
/// quarantine.
final class GroupOffsetDestination: LoadDestination {
    /// Events of a batch that the tracker has not accepted.
    private struct Unaccepted {
        /// Their positions among the batch's events, ascending, by name.
        let events: [String: [Int]]
        let reason: TrackerError
        /// When the delivery began.
        let since: Duration
        /// The names of the events that the tracker has accepted in it.
        let accepted: Set<String>
    }

    /// The turn to deliver, which one delivery has at a time.
    private struct Turn {
        var isTaken = false
        var waiting: Deque<CheckedContinuation<Void, Never>> = []
    }

    /// How many records are stored in the quarantine at once, in one synced commit.
    private static let keptAtOnce = 500

    private let tracker: any Tracker
    private let quarantine: Quarantine
    private let planVersion: String?
    private let clock: RelativeClock
    private let claims = Atomic<Int64>(0)
    private let turn = Mutex(Turn())
    /// What was done for the unfinished batch of each partition.
    private let progress = Mutex<[Int32: BatchProgress]>([:])
    private let parking: Mutex<EventParking>

    init(
        _ tracker: any Tracker,
        quarantine: Quarantine,
        planVersion: String?,
        limits: LoadLimits,
        clock: RelativeClock
    ) {
        self.tracker = tracker
        self.quarantine = quarantine
        self.planVersion = planVersion
        self.clock = clock
        parking = Mutex(EventParking(limits: limits))
    }

    var storesPositions: Bool { false }

    /// A tracker gets one delivery at a time.
    func lane(ofPartition number: Int32) -> Int { 0 }

    func claim(_ partition: LoadedPartition, start: Int64) async throws(TrackerError) -> PartitionClaim {
        // Others may have loaded the partition since, and the topic may have been recreated.
        progress.withLock { $0[partition.number] = nil }
        let epoch = claims.wrappingAdd(1, ordering: .relaxed).newValue
        return PartitionClaim(epoch: epoch, position: StoredPosition(nextOffset: start, lastRecord: nil))
    }

    func renew(
        _ partition: LoadedPartition,
        epoch: Int64,
        at offset: Int64
    ) async throws(TrackerError) -> PartitionClaim? {
        PartitionClaim(epoch: epoch, position: StoredPosition(nextOffset: offset, lastRecord: nil))
    }

    func acceptLoss(
        _ loss: AcceptedLoss,
        of partition: LoadedPartition,
        epoch: Int64
    ) async throws(TrackerError) -> Bool {
        // A topic that was recreated has other records at the same offsets.
        progress.withLock { $0[partition.number] = nil }
        return true
    }

    func load(_ records: CheckedRecords, of batch: Batch, in partition: LoadedPartition) async -> BatchReport {
        // One operation of a partition is under way at a time.
        var progress = progress.withLock { $0.removeValue(forKey: partition.number) } ?? BatchProgress()
        let failure = await settle(records, &progress)
        let end = records.end(of: batch)
        let refused = failure == nil ? progress.finish(before: end) : 0
        self.progress.withLock { $0[partition.number] = progress }
        if let failure { return BatchReport(outcome: .failed, error: failure) }
        return BatchReport(
            outcome: .committed(end: end, wait: records.waiting?.time),
            loaded: records.events.count + records.rejections.count - refused,
            refused: refused
        )
    }

    /// Delivers or keeps what earlier attempts have not; returns the reason if anything still waits.
    private func settle(_ records: CheckedRecords, _ progress: inout BatchProgress) async -> TrackerError? {
        do {
            // Before the delivery, which cannot be taken back if the quarantine fails.
            try await keep(records.rejections.map { ($0.record.offset, $0.rejection) }, &progress) { rejections in
                try await quarantine.keep(rejections, undeliveredBy: tracker.name, planVersion: planVersion)
            }
            return try await deliver(records, &progress)
        } catch is CancellationError {
            return .cancelled
        } catch {
            return .unkept(error)
        }
    }

    /// Delivers what is not settled, and parks what has waited for too long; returns the reason if anything still waits.
    private func deliver(_ records: CheckedRecords, _ progress: inout BatchProgress) async throws -> TrackerError? {
        let unsettled = records.sources.indices.filter { !progress.isSettled(records.sources[$0].offset) }
        guard let left = try await attempt(unsettled, of: records, &progress) else {
            progress.waits = [:]
            return nil
        }
        guard !left.reason.isOutage || left.events.keys.contains(where: { progress.stuck[$0] != nil }) else {
            return wait(for: left, &progress)
        }
        updateWaits(left, &progress)
        let known = parking.withLock(\.known)
        var reason: TrackerError?
        for (name, indices) in left.events.sorted(by: { $0.key < $1.key }) {
            if let reason = known[name] {
                try await park(name, indices, because: reason, of: records, &progress)
                continue
            }
            let stuck = progress.stuck[name]
            var (rest, cause) = (indices, stuck ?? left.reason)
            if stuck == nil, cause.isOutage {
                progress.waits[name] = nil
                reason = cause
                continue
            }
            if stuck != nil, cause.isOutage || !left.reason.isLike(cause), isDue(name, left, progress),
                !parking.withLock({ $0.hasAccepted(since: left.since) })
            {
                // The destination may have become unavailable since it accepted others.
                guard let again = try await attempt(indices, besidesDeliveredOf: records, &progress) else {
                    progress.delivered.formUnion(indices.map { records.sources[$0].offset })
                    continue
                }
                let isAsBefore = !cause.isOutage && again.reason.isLike(cause)
                guard isAsBefore || parking.withLock({ $0.hasAccepted(since: again.since) }) else {
                    return wait(for: again, &progress)
                }
                rest = again.events[name] ?? []
            }
            if stuck == nil, left.events.count > 1, isDue(name, left, progress) {
                // The reason may be that of another name.
                guard let again = try await attempt(indices, of: records, &progress) else {
                    progress.delivered.formUnion(indices.map { records.sources[$0].offset })
                    continue
                }
                guard !again.reason.isOutage else { return wait(for: again, &progress) }
                (rest, cause) = (again.events[name] ?? [], again.reason)
            }
            if isDue(name, left, progress) {
                try await park(name, rest, because: cause, of: records, &progress)
            } else {
                reason = cause
            }
        }
        return reason
    }

    /// Starts waiting for events that are not accepted, and stops waiting for all others.
    private func updateWaits(_ left: Unaccepted, _ progress: inout BatchProgress) {
        let earlier = progress.waits
        progress.waits = [:]
        for name in left.events.keys {
            // If some events of the name are accepted now, the wait starts anew.
            let before = left.accepted.contains(name) ? nil : earlier[name]
            var wait = before ?? BatchProgress.Wait(since: left.since)
            if wait.acceptsOthersSince == nil, parking.withLock({ $0.hasAccepted(since: wait.since) }) {
                wait.acceptsOthersSince = left.since
            }
            progress.waits[name] = wait
        }
    }

    private func isDue(_ name: String, _ left: Unaccepted, _ progress: BatchProgress) -> Bool {
        let now = clock.now()
        return parking.withLock { $0.isDue(progress.waits[name], began: left.since, now: now) }
    }

    /// Lets everything wait until the destination is back.
    private func wait(for left: Unaccepted, _ progress: inout BatchProgress) -> TrackerError {
        progress.waits = [:]
        return left.reason
    }

    private func park(
        _ name: String,
        _ indices: [Int],
        because reason: TrackerError,
        of records: CheckedRecords,
        _ progress: inout BatchProgress
    ) async throws {
        let events = zip(indices, records.events.selecting(indices)).map { index, event in
            (offset: records.sources[index].offset, item: (event: event, reason: reason.message))
        }
        try await keep(events, &progress) {
            try await quarantine.keep($0, refusedBy: tracker.name, as: .parked)
        }
        parking.withLock { $0.parked(name, because: reason) }
    }

    /// Delivers events together with one that was delivered before: only if the tracker accepts that one again is it available.
    private func attempt(
        _ indices: [Int],
        besidesDeliveredOf records: CheckedRecords,
        _ progress: inout BatchProgress
    ) async throws -> Unaccepted? {
        let witness = records.sources.indices.first { progress.delivered.contains(records.sources[$0].offset) }
        return try await attempt((indices + [witness].compactMap(\.self)).sorted(), of: records, &progress)
    }

    /// Delivers events, and keeps those that the tracker refuses; returns those that are left.
    ///
    /// `indices` are the events' positions among those of the batch, in ascending order.
    private func attempt(
        _ indices: [Int],
        of records: CheckedRecords,
        _ progress: inout BatchProgress
    ) async throws -> Unaccepted? {
        guard !indices.isEmpty else { return nil }
        let delivery = indices.count == records.events.count ? records.events : records.events.selecting(indices)
        let (outcome, began) = await deliverInTurn(delivery)
        let refusals = outcome.refusals.sorted { $0.position < $1.position }
        let refused = refusals.map(\.position)
        let retried = outcome.retry.map { $0.positions ?? Array(0..<delivery.count) } ?? []
        let left = Set(retried).subtracting(refused).sorted()
        let isComplete = left.isEmpty && refused.isEmpty
        let accepted = Set(0..<(isComplete ? 0 : delivery.count)).subtracting(left).subtracting(refused).sorted()
        progress.delivered.formUnion(accepted.map { records.sources[indices[$0]].offset })
        let names = Set(delivery.selecting(accepted).map(\.name))
        if isComplete || !accepted.isEmpty {
            parking.withLock { parking in
                parking.accepted(isComplete && parking.isParking ? Set(delivery.map(\.name)) : names, began: began)
            }
        }
        let items = zip(refusals, delivery.selecting(refused)).map { refusal, event in
            (offset: records.sources[indices[refusal.position]].offset, item: (event: event, reason: refusal.reason))
        }
        try await keep(items, &progress) { try await quarantine.keep($0, refusedBy: tracker.name) }
        for stuck in outcome.retry?.stuck ?? [] where !stuck.positions.isEmpty {
            progress.stuck[delivery.name(at: stuck.positions[0])] = stuck.reason
        }
        guard let reason = outcome.retry?.reason, !left.isEmpty else { return nil }
        let events = Dictionary(grouping: zip(left, delivery.selecting(left)), by: \.1.name)
        return Unaccepted(
            events: events.mapValues { $0.map { indices[$0.0] } },
            reason: reason,
            since: began,
            accepted: names
        )
    }

    /// Delivers after the deliveries of other partitions that began earlier; returns the outcome, and when the delivery began.
    private func deliverInTurn(_ delivery: Delivery) async -> (DeliveryOutcome, Duration) {
        await withCheckedContinuation { continuation in
            let isFree = turn.withLock { turn in
                guard turn.isTaken else {
                    turn.isTaken = true
                    return true
                }
                turn.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer {
            let next = turn.withLock { turn in
                turn.isTaken = !turn.waiting.isEmpty
                return turn.waiting.popFirst()
            }
            next?.resume()
        }
        let began = clock.now()
        return (await tracker.deliver(delivery), began)
    }

    /// Stores records in the quarantine, unless an earlier attempt has done so.
    private func keep<Refused>(
        _ refused: [(offset: Int64, item: Refused)],
        _ progress: inout BatchProgress,
        store: ([Refused]) async throws -> Void
    ) async throws {
        var rest = refused.filter { !progress.isSettled($0.offset) }[...]
        while !rest.isEmpty {
            try Task.checkCancellation()
            let chunk = rest.prefix(Self.keptAtOnce)
            try await store(chunk.map(\.item))
            progress.kept.formUnion(chunk.map(\.offset))
            rest = rest.dropFirst(chunk.count)
        }
    }
}

extension TrackerError {
    fileprivate static func unkept(_ error: any Error) -> TrackerError {
        TrackerError(
            code: .failed,
            message: "Refused records could not be stored: \(error)",
            isRetryable: true,
            underlying: error
        )
    }
}
