package import TrackerKit

extension PartitionLoad {
    /// What has to be done for the partition.
    package enum Operation: Sendable {
        /// Find the offset at which a loader begins that is new to the partition.
        case locate
        /// Take the partition over from its present owner; a loader that is new to it begins at `start`.
        case claim(start: Int64)
        /// Read the position again, if the epoch is still this one.
        case renew(epoch: Int64)
        /// Compare a position with what Kafka has.
        case compare(StoredPosition)
        /// Move the position to the first record that exists, if it and the epoch are still the same.
        case accept(AcceptedLoss, epoch: Int64)
        /// Commit these records, and the position after them.
        case load(Batch)
    }

    /// The records of one transaction.
    package struct Batch: Sendable {
        package let epoch: Int64
        /// The offset at which the stored position has to be.
        package let start: Int64
        /// The offset of the next position.
        package let end: Int64
        /// The records, by ascending offsets; may be empty, if the offsets between belong to no records.
        package let records: [Record]
        /// The parts of the destination whose events are refused if they accept nothing; if another part accepts nothing, nothing is
        /// committed.
        package let refusing: Set<String>
        /// When the last of the parts that accepted nothing was last tried; `nil` if all parts accept something.
        package let brokenAt: Duration?
    }

    /// What the next operation needs.
    package enum Demand: Sendable, Equatable {
        case kafka, claim, load
    }

    /// What to do with a record that Kafka has sent.
    package enum Reception: Sendable, Equatable {
        /// The offsets `skipped` before it belong to no record; `nil` for none.
        case taken(skipped: Range<Int64>?)
        /// It was taken before, or the partition does not expect records now.
        case ignored
        /// Records before it are missing: fetch them again from this offset.
        case seek(Int64)
    }
}
