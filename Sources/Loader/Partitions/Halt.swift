import SluiceKafka
package import TrackerKit

/// Why a partition is not loaded until an operator decides what to do.
package enum Halt: Sendable, Hashable {
    /// Retention has removed records that were not loaded: the first offset is `low`.
    case belowLowWatermark(next: Int64, low: Int64)
    /// The topic ends before the position: it was recreated, or the brokers have lost records.
    case aboveHighWatermark(next: Int64, high: Int64)
    /// The record before the position is not the one that was loaded.
    case otherRecord(expected: RecordNote, found: RecordNote?)
    /// The destination keeps as many refused records as it may.
    case refusedFull(limit: Int)
}

extension Halt {
    /// Why a partition with these offsets cannot be loaded from an offset; `nil` if it can, as far as the offsets say.
    init?(at next: Int64, watermarks: KafkaConsumer.Watermarks) {
        if next < watermarks.low {
            self = .belowLowWatermark(next: next, low: watermarks.low)
        } else if next > watermarks.high {
            self = .aboveHighWatermark(next: next, high: watermarks.high)
        } else {
            return nil
        }
    }
}

extension Halt: CustomStringConvertible {
    /// What is wrong, with both numbers.
    package var description: String {
        switch self {
        case .belowLowWatermark(let next, let low):
            "the next record to load is \(next), and retention has removed all records before \(low)"
        case .aboveHighWatermark(let next, let high):
            """
            the next record to load is \(next), and the partition's high watermark is \(high): the topic was recreated, or the \
            brokers have lost records
            """
        case .otherRecord(let expected, let found):
            """
            the last record loaded was \(expected), and the topic has \(found.map { "\($0)" } ?? "nothing") there: the topic was recreated \
            or compacted, or the brokers have lost records
            """
        case .refusedFull(let limit):
            "the limit of \(limit) refused records for a partition is reached"
        }
    }
}
