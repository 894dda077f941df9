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

    private let tracker: any Tracker
    private let quarantine: Quarantine
    private let planVersion: String?
    private let limits: LoadLimits
    private let clock: RelativeClock
    /// The records of unfinished batches that are in the quarantine, by claim, so that another attempt does not store them again.
    private let kept = Mutex<[Int64: Set<Int64>]>([:])
    private let claims = Atomic<Int64>(0)
    private let turn = Mutex(Turn())

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
        true
    }

    func load(_ records: CheckedRecords, of batch: Batch, in partition: LoadedPartition) async -> BatchReport {
        do {
            if let failure = try await deliver(records, of: batch) { return failure }
            for (record, rejection) in records.rejections {
                try await keep(record.offset, of: batch) {
                    try await quarantine.keep([rejection], undeliveredBy: tracker.name, planVersion: planVersion)
                }
            }
        } catch is CancellationError {
            return BatchReport(outcome: .failed, error: .cancelled)
        } catch {
            return BatchReport(outcome: .failed, error: .unkept(error))
        }
        let refused = kept.withLock { $0.removeValue(forKey: batch.epoch)?.count ?? 0 }
        return BatchReport(
            outcome: .committed(end: records.end(of: batch), isBroken: false, wait: records.waiting?.time),
            loaded: records.events.count + records.rejections.count - refused,
            refused: refused
        )
    }

    /// Delivers the events; returns a report if nothing was delivered, so that all of it can be tried again.
    ///
    /// Once a part is delivered, the rest is tried again here, so that nothing is delivered twice as long as the process runs.
    private func deliver(_ records: CheckedRecords, of batch: Batch) async throws -> BatchReport? {
        var rest = records.events
        // The record of each event of the rest.
        var sources = records.sources
        let start = clock.now()
        var attempts = 0
        while rest.count > 0 {
            let delivery = rest
            let outcome = await deliverInTurn(delivery)
            for refusal in outcome.refusals {
                try await keep(sources[refusal.position].offset, of: batch) {
                    try await quarantine.keep(
                        [(delivery.event(at: refusal.position), refusal.reason)],
                        refusedBy: tracker.name
                    )
                }
            }
            guard let retry = outcome.retry else { return nil }
            let refused = Set(outcome.refusals.map(\.position))
            let positions = retry.positions ?? (0..<delivery.count).filter { !refused.contains($0) }
            let isPartial = positions.count + refused.count < delivery.count
            if !isPartial, attempts == 0 { return BatchReport(outcome: .failed, error: retry.reason) }
            rest = delivery.selecting(positions)
            sources = positions.map { sources[$0] }
            // The member gives up its partitions if this takes too long.
            if clock.now() - start >= min(limits.patience, limits.stuckAfter / 4) {
                for (event, record) in zip(rest, sources) {
                    try await keep(record.offset, of: batch) {
                        try await quarantine.keep([(event, retry.reason.message)], refusedBy: tracker.name, as: .parked)
                    }
                }
                return nil
            }
            attempts += 1
            try await clock.sleepUntil(clock.now() + limits.pause(afterFailures: attempts))
        }
        return nil
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

    /// Stores a record in the quarantine, unless an earlier attempt has done so.
    private func keep(_ offset: Int64, of batch: Batch, _ store: () async throws -> Void) async throws {
        guard kept.withLock({ $0[batch.epoch]?.contains(offset) != true }) else { return }
        try await store()
        _ = kept.withLock { $0[batch.epoch, default: []].insert(offset) }
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
