import Loader
import TrackerKit

/// The destination: one transaction for rows, refused records and the compare-and-set, or a tracker that stores no positions.
extension GroupSimulation {
    /// Carries out an operation on a partition that is loaded up to `offset`.
    mutating func effect(of operation: Load.Operation, on partition: Int, at offset: Int64) -> OperationResult {
        // The connection fails before or after the effect.
        if fails(4) { return failure(of: operation) }
        let failsAfter = fails(4)
        switch operation {
        case .claim(let start):
            stored[partition].epoch += 1
            if !storesPositions || stored[partition].next == nil { stored[partition].next = start }
            return .claimed(failsAfter ? .failure(.failure) : .success(claim(partition)))
        case .renew(let epoch):
            if !storesPositions {
                let position = StoredPosition(nextOffset: offset, lastRecord: nil)
                return .claimed(.success(PartitionClaim(epoch: epoch, position: position)))
            }
            return .claimed(.success(stored[partition].epoch == epoch ? claim(partition) : nil))
        case .load(let batch):
            let outcome = load(batch, into: partition)
            // A tracker that stores no positions remembers what it has accepted of a batch.
            return .loaded(BatchReport(outcome: failsAfter && storesPositions ? .unknown : outcome))
        case .locate, .compare, .accept: preconditionFailure("not an operation of the destination here")
        }
    }

    mutating func failure(of operation: Load.Operation) -> OperationResult {
        guard case .load = operation else { return .claimed(.failure(.failure)) }
        let outcomes: [LoadOutcome] = [
            .failed, .timedOut, .unknown, .tooLarge, .broken(["A"], acceptsOthers: true),
            .broken(["A", "B"], acceptsOthers: false), .refusedFull(limit: 1),
        ]
        let outcome = storesPositions ? outcomes[Int.random(in: outcomes.indices, using: &random)] : .failed
        return .loaded(BatchReport(outcome: outcome, error: .failure))
    }

    private func claim(_ partition: Int) -> PartitionClaim {
        let stored = stored[partition]
        return PartitionClaim(
            epoch: stored.epoch,
            position: StoredPosition(nextOffset: stored.next ?? 0, lastRecord: storesPositions ? stored.last : nil)
        )
    }

    private mutating func load(_ batch: Load.Batch, into partition: Int) -> LoadOutcome {
        if storesPositions {
            guard stored[partition].epoch == batch.epoch, stored[partition].next == batch.start else {
                return .superseded
            }
        }
        return stored[partition].load(batch)
    }
}
