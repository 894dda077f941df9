package import TrackerKit

/// An entry of a partition's queue.
package enum PartitionMessage<Record> {
    case record(Record)
    /// There is no record from this offset on, now.
    case end(Int64)
    /// The fetch offset does not exist, and the partition is not read any more.
    case outOfRange
    case failed(TrackerError)
}
