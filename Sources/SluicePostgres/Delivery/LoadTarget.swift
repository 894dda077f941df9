import EventSchema
import EventValidation

/// The table for the rows of one event, and the statements that load them.
struct LoadTarget: Sendable {
    let table: EventTable
    let layout: RowLayout
    /// Distinguishes the temporary objects of a session.
    let number: Int
    /// The name of the temporary table that rows pass through when duplicates must be skipped.
    let staging: String

    init(_ definition: EventDefinition, schema: String, number: Int) {
        table = EventTable(definition, schema: schema)
        layout = RowLayout(definition)
        self.number = number
        staging = SQLText.identifier("sluice_staging_\(number)")
    }

    private var columnList: String {
        table.columns.map { SQLText.identifier($0.name) }.joined(separator: ", ")
    }

    /// Copies rows straight into the table.
    var copy: String {
        "COPY \(table.sqlName) (\(columnList)) FROM STDIN (FORMAT binary)"
    }

    /// Creates the staging table: the same columns, no constraints, emptied after each transaction.
    var createStaging: String {
        """
        CREATE TEMPORARY TABLE IF NOT EXISTS pg_temp.\(staging) ON COMMIT DELETE ROWS
        AS SELECT \(columnList) FROM \(table.sqlName) WITH NO DATA
        """
    }

    /// Copies rows into the staging table.
    var copyToStaging: String {
        "COPY pg_temp.\(staging) (\(columnList)) FROM STDIN (FORMAT binary)"
    }

    /// Inserts the staged rows whose key is not in the table yet; all of them if the table has no key.
    ///
    /// The conflict target is the key, because a row that violates another unique index must fail instead of being skipped. The
    /// order is that of the key, so that two sessions that insert some of the same rows wait for each other and cannot deadlock.
    func insertFromStaging(key: [String], where condition: String = "true") -> String {
        let columns = table.columns.map { "s." + SQLText.identifier($0.name) }.joined(separator: ", ")
        let insert = """
            INSERT INTO \(table.sqlName) (\(columnList)) SELECT \(columns) FROM pg_temp.\(staging) s WHERE \(condition)
            """
        if key.isEmpty { return insert }
        let order = key.map { "s." + SQLText.identifier($0) }.joined(separator: ", ")
        let key = key.map(SQLText.identifier).joined(separator: ", ")
        return "\(insert) ORDER BY \(order) ON CONFLICT (\(key)) DO NOTHING"
    }

    /// Inserts no row: fails for the same reasons as any row does if the table is missing, locked or without a privilege.
    ///
    /// The lock is kept until the transaction ends, so that single rows do not wait for it.
    var insertNothing: String {
        "INSERT INTO \(table.sqlName) (\(columnList)) SELECT \(columnList) FROM pg_temp.\(staging) WHERE false"
    }

    var clearStaging: String { "DELETE FROM pg_temp.\(staging)" }

    var dropStaging: String { "DROP TABLE IF EXISTS pg_temp.\(staging)" }
}

/// The targets of recent catalogs, created once for each catalog, not once for each delivery.
struct LoadTargets {
    /// The maximum number of catalogs: the one in use, and those of events that are still in flight.
    private static let capacity = 4

    private let schema: String
    private var entries: [(catalog: EventCatalog, targets: [LoadTarget])] = []
    private var made = 0

    init(schema: String) {
        self.schema = schema
    }

    /// Returns the targets of a catalog's definitions, by their index.
    mutating func targets(of catalog: EventCatalog) -> [LoadTarget] {
        if let known = entries.last(where: { $0.catalog === catalog }) { return known.targets }
        let targets = catalog.definitions.enumerated().map { index, definition in
            LoadTarget(definition, schema: schema, number: made + index)
        }
        made += targets.count
        if entries.count == Self.capacity { entries.removeFirst() }
        entries.append((catalog, targets))
        return targets
    }
}
