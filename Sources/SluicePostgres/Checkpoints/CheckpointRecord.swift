/// The checkpoint of a journal, as a part of a transaction.
struct CheckpointRecord: TransactionRecord {
    /// Waits for other transactions, and reads the stored checkpoint.
    let opening: String
    /// The checkpoint that must be stored; `nil` if none.
    let expected: UInt64?
    /// Stores the delivery's checkpoint; `nil` if the delivery is a part of another one.
    let store: String?

    /// Checks that the stored checkpoint is the one that this session knows.
    func check(_ row: [String?]?) throws(PostgresFailure) {
        let stored = row?.first.flatMap { $0.flatMap { UInt64($0) } }
        guard stored == expected else { throw .superseded(by: stored) }
    }

    /// Stores the checkpoint unless a row of the delivery was left out.
    func closing(_ report: inout LoadReport, _ loader: DeliveryLoader) -> String? {
        let isWhole = report.isWhole && loader.sender.defects.isEmpty
        return isWhole ? store.map { $0 + "; " } ?? "" : ""
    }
}
