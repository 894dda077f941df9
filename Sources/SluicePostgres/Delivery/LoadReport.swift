import TrackerKit

/// The outcome of each row of a delivery.
struct LoadReport: Sendable {
    /// Rows of one table that it does not accept now.
    struct Stuck: Sendable {
        let table: String
        /// The number of the load target; another catalog's may be of the same table.
        let target: Int
        /// Whether they are of the group whose times are not the sender's.
        let hasServerTimes: Bool
        /// Positions in the delivery.
        let positions: [Int]
        let reason: TrackerError
        /// Whether the table accepts no row of the group at all.
        let isWholeTable: Bool
    }

    /// Why a transaction was rolled back although the server has accepted its statements.
    enum Abandonment: Sendable {
        /// There was not enough time to find all rejected rows.
        case unsettled
        /// Some rows are stuck; whether other rows were accepted.
        case stuck(TrackerError, acceptsOthers: Bool)
        /// No more refused records may be kept.
        case refusedFull
    }

    /// The rows that were not sent, because their table has no partition for their times, and the reason.
    let withoutPartition: [(positions: [Int], reason: TrackerError)]
    /// The rejected rows by position, with the server's message.
    var refused: [Int: String] = [:]
    /// How many rows of each kind were rejected, for the log.
    var refusalKinds: [RefusalLog.Kind: Int] = [:]
    /// The rows that were not tried before the deadline.
    var unsettled: [Int] = []
    /// The rows that are not accepted now, ordered by the tables' names.
    private(set) var stuck: [Stuck] = []
    /// Whether a row was inserted, or was in its table already: the evidence that stuck rows are not the server's fault.
    var hasAccepted = false
    var duplicates = 0
    /// Why nothing was committed; `nil` if the transaction was.
    var abandonment: Abandonment?
    /// How many refused records were stored in the transaction.
    var keptRefusals = 0
    /// How many of them are stuck rows.
    var keptStuck = 0

    /// The report before a row of the delivery is sent.
    init(_ rows: DeliveryRows) {
        withoutPartition = rows.withoutPartition.map { part in
            (part.positions, .noPartition(in: part.target.table, for: part.earliest))
        }
    }

    /// Whether every row is in its table, so that the checkpoint may be stored.
    var isWhole: Bool { refused.isEmpty && unsettled.isEmpty && stuck.isEmpty && withoutPartition.isEmpty }

    /// Whether nothing shows that the server accepts rows.
    ///
    /// Stuck rows that are kept in the transaction are settled, because something else has shown that they are at fault.
    var isWithoutEvidence: Bool {
        if case .stuck(_, acceptsOthers: true) = abandonment { return false }
        return !hasAccepted && refused.isEmpty && !isWhole && keptStuck == 0
    }

    /// Leaves rows to another delivery.
    mutating func leave(
        _ positions: some Sequence<Int>,
        of group: DeliveryRows.Group,
        because reason: TrackerError,
        isWholeTable: Bool = true
    ) {
        stuck.append(
            Stuck(
                table: group.target.table.name,
                target: group.target.number,
                hasServerTimes: group.hasServerTimes,
                positions: Array(positions),
                reason: reason,
                isWholeTable: isWholeTable
            )
        )
    }

    /// Whether the table accepts no rows of a group, which were left then.
    func isBroken(_ group: DeliveryRows.Group) -> Bool {
        stuck.contains {
            $0.target == group.target.number && $0.hasServerTimes == group.hasServerTimes && $0.isWholeTable
        }
    }
}
