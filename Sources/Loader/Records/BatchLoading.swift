package import EventModel
package import EventQuarantine
import EventSchema
package import EventValidation
package import SluiceKafka
package import TrackerKit

/// Checks batches of records against the plan, and loads them.
package struct BatchLoading: Sendable {
    package typealias Batch = PartitionLoad<ConsumedRecord>.Batch

    private let check: RecordCheck
    let destination: any LoadDestination
    private let now: @Sendable () -> Timestamp

    /// Creates the loading of a tracker's batches.
    ///
    /// `owner` names the process for operators; `quarantine` keeps the refused records of a tracker that stores no positions;
    /// `tombstones` are of people whose events the tracker does not get.
    package init(
        into tracker: any Tracker,
        catalog: EventCatalog,
        quarantine: Quarantine,
        owner: String,
        limits: LoadLimits,
        tombstones: TombstoneRegister = TombstoneRegister(),
        clock: RelativeClock,
        now: @escaping @Sendable () -> Timestamp
    ) {
        check = RecordCheck(
            catalog: catalog,
            tracker: tracker.name,
            patience: limits.patienceForPlan,
            tombstones: tombstones
        )
        let planVersion = catalog.plan.version
        destination =
            if let tracker = tracker as? any PartitionTracker {
                TransactionalDestination(
                    tracker: tracker,
                    owner: owner,
                    planVersion: planVersion,
                    patience: limits.patience,
                    clock: clock,
                    now: now
                )
            } else {
                GroupOffsetDestination(
                    tracker,
                    quarantine: quarantine,
                    planVersion: planVersion,
                    limits: limits,
                    clock: clock
                )
            }
        self.now = now
    }

    /// Loads a batch, as far as no record of it waits for a loader with another plan.
    package func load(_ batch: Batch, in partition: LoadedPartition) async -> BatchReport {
        let records: CheckedRecords
        do {
            records = try check.check(batch, of: partition, now: now().microseconds / 1000)
        } catch {
            return BatchReport(outcome: .failed, error: .unchecked)
        }
        if let waiting = records.waiting, waiting.offset == batch.start {
            // Nothing comes before it.
            return BatchReport(outcome: .committed(end: batch.start, wait: waiting.time))
        }
        var report = await destination.load(records, of: batch, in: partition)
        if case .committed = report.outcome {
            report.lastTimestamp = records.last?.timestamp
            report.forgotten = records.forgotten
        }
        return report
    }
}

extension TrackerError {
    fileprivate static let unchecked = TrackerError(
        code: .failed,
        message: "There was not enough memory to check records.",
        isRetryable: true
    )
}
