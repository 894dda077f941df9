import EventModel
import EventQuarantine
import EventValidation
import SluiceKafka
import Synchronization
import TrackerKit

/// A tracker that stores positions and refused records in the transaction that loads the events.
final class TransactionalDestination: LoadDestination {
    let tracker: any PartitionTracker
    /// The name of the process, for operators.
    let owner: String
    let planVersion: String?
    let now: @Sendable () -> Timestamp
    private let patience: Duration
    private let clock: RelativeClock
    /// When the latest delivery began in which the tracker accepted an event, of any partition.
    private let acceptedAt = Mutex<Duration?>(nil)

    init(
        tracker: any PartitionTracker,
        owner: String,
        planVersion: String?,
        patience: Duration,
        clock: RelativeClock,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.tracker = tracker
        self.owner = owner
        self.planVersion = planVersion
        self.patience = patience
        self.clock = clock
        self.now = now
    }

    var storesPositions: Bool { true }

    func lane(ofPartition number: Int32) -> Int { tracker.lane(ofPartition: number) }

    func claim(_ partition: LoadedPartition, start: Int64) async throws(TrackerError) -> PartitionClaim {
        try await tracker.claim(partition, start: start, owner: owner)
    }

    func renew(
        _ partition: LoadedPartition,
        epoch: Int64,
        at offset: Int64
    ) async throws(TrackerError) -> PartitionClaim? {
        try await tracker.renew(partition, epoch: epoch)
    }

    func acceptLoss(
        _ loss: AcceptedLoss,
        of partition: LoadedPartition,
        epoch: Int64
    ) async throws(TrackerError) -> Bool {
        try await tracker.acceptLoss(loss, of: partition, epoch: epoch)
    }

    func load(_ records: CheckedRecords, of batch: Batch, in partition: LoadedPartition) async -> BatchReport {
        let time = now()
        let began = clock.now()
        let end = records.end(of: batch)
        let delivery = PartitionDelivery(
            partition: partition,
            epoch: batch.epoch,
            start: batch.start,
            end: end,
            lastRecord: records.last?.note,
            events: records.events,
            refused: records.rejections.map { record, rejection in
                RefusedRecord(record: record.copy, verdict: verdict(on: rejection, at: time))
            },
            refusing: batch.refusing,
            acceptsOthers: batch.brokenAt.map { hasAccepted(since: max($0, began - patience)) } ?? false,
            refuse: { position, reason in
                RefusedRecord(
                    record: records.sources[position].copy,
                    verdict: self.verdict(onEventAt: position, of: records.events, reason, at: time)
                )
            }
        )
        switch await tracker.load(delivery) {
        case .committed(let refused, let broken, _):
            let loaded = records.events.count + records.rejections.count - refused
            if loaded > 0 { acceptedAt.withLock { $0 = max($0 ?? began, began) } }
            return BatchReport(
                outcome: .committed(end: end, broken: broken, wait: records.waiting?.time),
                loaded: loaded,
                refused: refused,
                refusal: records.rejections.first?.rejection.violations.first.map { "\($0.code) at \($0.path)" }
            )
        case .superseded: return BatchReport(outcome: .superseded)
        case .unknown(let error): return BatchReport(outcome: .unknown, error: error)
        case .tooLarge(let error): return BatchReport(outcome: .tooLarge, error: error)
        case .refusedFull(let limit): return BatchReport(outcome: .refusedFull(limit: limit))
        case .broken(let tables, let acceptsOthers, let error):
            return BatchReport(outcome: .broken(tables, acceptsOthers: acceptsOthers), error: error)
        case .failed(let error):
            return BatchReport(outcome: error.code == .timeout ? .timedOut : .failed, error: error)
        }
    }

    /// Whether the tracker has accepted an event in a delivery that began at this time or later.
    private func hasAccepted(since time: Duration) -> Bool { acceptedAt.withLock { $0.map { $0 >= time } ?? false } }

    private func verdict(on rejection: Rejection, at time: Timestamp) -> String {
        QuarantineLine.verdict(on: rejection, undeliveredBy: tracker.name, at: time, planVersion: planVersion)
    }

    private func verdict(
        onEventAt position: Int,
        of events: Delivery,
        _ reason: RefusalReason,
        at time: Timestamp
    ) -> String {
        let (verdict, text): (DeliveryVerdict, String) =
            switch reason {
            case .refused(let text): (.refused, text)
            case .broken(let text): (.parked, text)
            }
        return QuarantineLine.verdict(
            onEvent: events.event(at: position).name,
            refusedBy: tracker.name,
            as: verdict,
            reason: text,
            at: time,
            planVersion: planVersion
        )
    }
}
