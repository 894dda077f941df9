import DequeModule
import EventModel
import EventQuarantine
import SluiceKafka
import Synchronization
import TrackerKit

/// A tracker that stores no positions: its group commits them to Kafka after each batch, and refused records are kept in the local
/// quarantine.
final class GroupOffsetDestination: LoadDestination {
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
    private let limits: LoadLimits
    private let clock: RelativeClock
    private let claims = Atomic<Int64>(0)
    private let turn = Mutex(Turn())
    /// What was done for the unfinished batch of each partition.
    private let progress = Mutex<[Int32: BatchProgress]>([:])
    /// When the tracker last accepted an event.
    private let acceptedAt = Mutex<Duration?>(nil)
    /// The names of the events that were parked last, and of which the tracker has accepted none since.
    private let parkedNames = Mutex<Set<String>>([])

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
        self.limits = limits
        self.clock = clock
    }

    var storesPositions: Bool { false }

    /// A tracker gets one delivery at a time.
    func lane(ofPartition number: Int32) -> Int { 0 }

    func claim(_ partition: LoadedPartition, start: Int64) async throws(TrackerError) -> PartitionClaim {
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
            outcome: .committed(end: end, isBroken: false, wait: records.waiting?.time),
            loaded: records.events.count + records.rejections.count - refused,
            refused: refused
        )
    }

    /// Delivers or keeps what earlier attempts have not; returns why something is left.
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

    private func deliver(_ records: CheckedRecords, _ progress: inout BatchProgress) async throws -> TrackerError? {
        let positions = records.sources.indices.filter { !progress.isSettled(records.sources[$0].offset) }
        guard !positions.isEmpty else { return nil }
        let isWhole = positions.count == records.events.count
        let delivery = isWhole ? records.events : records.events.selecting(positions)
        let outcome = await deliverInTurn(delivery)
        let now = clock.now()

        let refused = Set(outcome.refusals.map(\.position))
        let left = Set(outcome.retry.map { $0.positions ?? Array(0..<delivery.count) } ?? []).subtracting(refused)
        let accepted = (0..<delivery.count).filter { !left.contains($0) && !refused.contains($0) }
        if !left.isEmpty || !refused.isEmpty {
            progress.delivered.formUnion(accepted.map { records.sources[positions[$0]].offset })
        }
        if !accepted.isEmpty { noteAccepted(accepted, of: delivery, at: now) }

        let refusals = outcome.refusals.map { refusal in
            (
                records.sources[positions[refusal.position]].offset,
                (event: delivery.event(at: refusal.position), reason: refusal.reason)
            )
        }
        try await keep(refusals, &progress) { try await quarantine.keep($0, refusedBy: tracker.name) }
        guard let reason = outcome.retry?.reason, !left.isEmpty else { return nil }

        let rest = left.sorted()
        let events = zip(rest, delivery.selecting(rest)).map { position, event in
            (offset: records.sources[positions[position]].offset, event: event)
        }
        let names = Set(events.map(\.event.name))
        guard mayPark(names, because: reason, &progress, now) else { return reason }
        try await keep(events.map { ($0.offset, ($0.event, reason.message)) }, &progress) {
            try await quarantine.keep($0, refusedBy: tracker.name, as: .parked)
        }
        parkedNames.withLock { $0.formUnion(names) }
        return nil
    }

    private func noteAccepted(_ positions: [Int], of delivery: Delivery, at now: Duration) {
        acceptedAt.withLock { $0 = now }
        parkedNames.withLock { names in
            guard !names.isEmpty else { return }
            for event in delivery.selecting(positions) { names.remove(event.name) }
        }
    }

    /// Whether events with these names are parked that the tracker has just not accepted: if it accepts others, and they have waited
    /// long enough, or if events of the same names had to be parked before.
    ///
    /// A tracker that accepts nothing is unavailable, which is not the fault of the events.
    private func mayPark(
        _ names: Set<String>,
        because reason: TrackerError,
        _ progress: inout BatchProgress,
        _ now: Duration
    ) -> Bool {
        let failedBefore = progress.failedAt
        progress.failedAt = now
        guard reason.code != .unavailable, reason.code != .cancelled else {
            progress.waitsSince = nil
            return false
        }
        if parkedNames.withLock({ names.isSubset(of: $0) }) { return true }
        let acceptsOthers =
            if let failedBefore, let acceptedAt = acceptedAt.withLock(\.self) { acceptedAt > failedBefore } else {
                false
            }
        guard acceptsOthers || !progress.delivered.isEmpty || progress.waitsSince != nil else { return false }
        let since = progress.waitsSince ?? now
        progress.waitsSince = since
        return now - since >= (reason.isRetryable ? limits.patience : min(limits.patience, limits.patienceForRepairs))
    }

    /// Delivers after the deliveries of other partitions that began earlier.
    private func deliverInTurn(_ delivery: Delivery) async -> DeliveryOutcome {
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
        return await tracker.deliver(delivery)
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
