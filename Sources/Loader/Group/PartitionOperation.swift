package import SluiceKafka
package import TrackerKit

/// The operation of a partition under one assignment.
package struct OperationTicket: Sendable, Hashable {
    package let partition: Int32
    package let assignment: Int
}

/// The result of an operation that has ended.
package enum OperationResult: Sendable {
    case located(Result<PartitionStart, TrackerError>)
    /// The offsets with which a position is compared.
    case watermarks(Result<KafkaConsumer.Watermarks, TrackerError>, StoredPosition)
    /// The claim; `nil` if another loader has claimed the partition since.
    case claimed(Result<PartitionClaim?, TrackerError>)
    /// Whether the loss is stored; otherwise the position or the epoch is another one.
    case accepted(Result<Bool, TrackerError>, AcceptedLoss)
    case loaded(BatchReport)

    /// Why the brokers did not answer what the operation needed.
    var requestError: TrackerError? {
        switch self {
        case .located(.failure(let error)), .watermarks(.failure(let error), _): error
        case .located, .watermarks, .claimed, .accepted, .loaded: nil
        }
    }
}

/// Where a loader begins that is new to a partition.
package struct PartitionStart: Sendable {
    package let offset: Int64
    /// The offsets that exist.
    package let watermarks: KafkaConsumer.Watermarks
    /// Whether the group has stored the offset in Kafka.
    package let isStored: Bool

    package init(offset: Int64, watermarks: KafkaConsumer.Watermarks, isStored: Bool) {
        self.offset = offset
        self.watermarks = watermarks
        self.isStored = isStored
    }
}
