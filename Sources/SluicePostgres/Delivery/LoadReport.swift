import TrackerKit

/// The outcome of each row of a delivery.
struct LoadReport: Sendable {
    /// The rows of one table that currently accepts none.
    struct Broken: Sendable {
        let table: String
        /// Positions in the delivery.
        let positions: [Int]
        let reason: TrackerError
    }

    /// Why a transaction was rolled back although the server has accepted its statements.
    enum Abandonment: Sendable {
        /// There was not enough time to find all rejected rows.
        case unsettled
        /// A table accepts no rows, or no table does.
        case broken(TrackerError)
        /// No more refused records may be kept.
        case refusedFull
    }

    /// The rejected rows by position, with the server's message.
    var refused: [Int: String] = [:]
    /// The rows that were not tried before the deadline.
    var unsettled: [Int] = []
    /// The rows of broken tables, ordered by the tables' names.
    private(set) var broken: [Broken] = []
    var duplicates = 0
    /// Why nothing was committed; `nil` if the transaction was.
    var abandonment: Abandonment?
    /// How many refused records were stored in the transaction.
    var keptRefusals = 0
    /// How many of them are events of broken tables.
    var keptBroken = 0

    /// Whether every row is in its table, so that the checkpoint may be stored.
    var isWhole: Bool { refused.isEmpty && unsettled.isEmpty && broken.isEmpty }

    /// Leaves rows of a broken table to another delivery.
    mutating func leave(_ positions: some Sequence<Int>, of group: DeliveryRows.Group, because reason: TrackerError) {
        broken.append(Broken(table: group.target.table.name, positions: Array(positions), reason: reason))
    }

    /// Whether the table accepted no rows.
    func isBroken(_ group: DeliveryRows.Group) -> Bool {
        broken.contains { $0.table == group.target.table.name }
    }
}
