import Logging
import TrackerKit

/// A tracker's sessions, made on demand.
///
/// Partitions are spread over all of them; everything else uses the first.
struct PostgresSessions: Sendable {
    /// Two: the server works for one session while the other encodes or commits.
    private static let count = 2

    private let all: [SessionOnDemand<PostgresSession>]

    init(_ configuration: PostgresConfiguration, logger: Logger) {
        let known = KnownTables(ofTracker: configuration.name)
        all = (0..<Self.count).map { _ in
            SessionOnDemand { () throws(TrackerError) in
                try PostgresSession(configuration, known: known, logger: logger)
            }
        }
    }

    var first: SessionOnDemand<PostgresSession> { all[0] }

    /// The index of the session that the partition with this number uses.
    func lane(ofPartition number: Int32) -> Int { Int(number.magnitude) % all.count }

    /// The session of a partition, which is always the same, because a claim belongs to its connection.
    subscript(of partition: LoadedPartition) -> SessionOnDemand<PostgresSession> {
        all[lane(ofPartition: partition.number)]
    }

    /// Closes the connections.
    func close() async {
        for session in all { await session.ifMade?.close() }
    }
}
