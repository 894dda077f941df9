/// What a transaction compares and stores besides its rows.
protocol TransactionRecord {
    /// The statements in the round trip of BEGIN; the last one returns at most one row.
    var opening: String { get }

    /// Checks the row that the opening statements returned.
    func check(_ row: [String?]?) throws(PostgresFailure)

    /// Stores what belongs to the rows, before the commit.
    ///
    /// Returns the statements for the round trip of COMMIT, each with its semicolon; `nil` to roll back, and then `report` says why.
    func closing(_ report: inout LoadReport, _ loader: DeliveryLoader) throws(PostgresFailure) -> String?
}
