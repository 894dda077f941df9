import Loader
import SluiceKafka
import TrackerKit

extension PartitionLoad where Record == ConsumedRecord {
    /// The batch of records that Kafka has sent to a new loader.
    static func batch(from records: [ConsumedRecord], of partition: LoadedPartition) -> Batch? {
        var load = Self(partition, limits: LoadLimits())
        _ = load.nextOperation(now: .zero)
        load.located(records[0].offset, now: .zero)
        _ = load.nextOperation(now: .zero)
        let position = StoredPosition(nextOffset: records[0].offset, lastRecord: nil)
        load.claimed(.granted(epoch: 1, position), now: .zero)
        _ = load.nextOperation(now: .zero)
        load.compared(.matches, now: .zero)
        for record in records where load.receive(record) != .taken(skipped: nil) { _ = load.receive(record) }
        guard case .load(let batch) = load.nextOperation(now: .zero) else { return nil }
        return batch
    }
}

extension BatchReport {
    /// The outcome in a few words.
    var words: String {
        switch outcome {
        case .committed(let end, _, nil): "committed before \(end)"
        case .committed(let end, _, _?): "committed before \(end), then waits"
        case .failed: "failed"
        default: "something else"
        }
    }
}
