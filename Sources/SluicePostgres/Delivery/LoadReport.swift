import TrackerKit

/// What became of the rows of a delivery whose transaction was committed.
struct LoadReport: Sendable {
    /// The rows of one table that takes none at present.
    struct Broken: Sendable {
        let table: String
        /// Positions in the delivery.
        let positions: [Int]
        let reason: TrackerError
    }

    /// The refused rows by position, with the server's words.
    var refused: [Int: String] = [:]
    /// The rows that there was no time for.
    var unsettled: [Int] = []
    /// The rows of tables that take none, by the order of the tables' names.
    private(set) var broken: [Broken] = []
    var duplicates = 0

    /// Whether every row is in its table, so that the checkpoint may be stored.
    var isWhole: Bool { refused.isEmpty && unsettled.isEmpty && broken.isEmpty }

    /// Leaves rows of a table to another delivery.
    mutating func leave(_ positions: some Sequence<Int>, of group: DeliveryRows.Group, because reason: TrackerError) {
        broken.append(Broken(table: group.target.table.name, positions: Array(positions), reason: reason))
    }

    /// Whether the table has taken no rows.
    func isBroken(_ group: DeliveryRows.Group) -> Bool {
        broken.contains { $0.table == group.target.table.name }
    }
}
