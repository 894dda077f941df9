import Logging
import TrackerKit

/// The sessions of a tracker, each of which is made when it is first needed.
///
/// Partitions are spread over all of them, so that the server works for one while another one is encoding or committing; everything
/// else uses the first.
struct PostgresSessions: Sendable {
    /// Enough to keep one process of the server busy.
    private static let count = 2

    private let all: [SessionOnDemand<PostgresSession>]

    init(_ configuration: PostgresConfiguration, logger: Logger) {
        let keys = EventKeys()
        all = (0..<Self.count).map { _ in
            SessionOnDemand { () throws(TrackerError) in
                try PostgresSession(configuration, keys: keys, logger: logger)
            }
        }
    }

    var first: SessionOnDemand<PostgresSession> { all[0] }

    /// The session of a partition, which is always the same, because a claim belongs to its connection.
    subscript(of partition: LoadedPartition) -> SessionOnDemand<PostgresSession> {
        all[Int(partition.number.magnitude) % all.count]
    }

    /// Closes the connections.
    func close() async {
        for session in all { await session.ifMade?.close() }
    }
}
