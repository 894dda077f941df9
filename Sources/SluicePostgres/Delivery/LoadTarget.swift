import EventSchema
import EventValidation

/// Where the rows of one event go, and the statements that take them there.
struct LoadTarget: Sendable {
    let table: EventTable
    let layout: RowLayout
    /// The name of the session's own table that rows pass through when duplicates must be told from new rows.
    let staging: String

    /// `number` tells the staging tables of a session apart.
    init(_ definition: EventDefinition, schema: String, number: Int) {
        table = EventTable(definition, schema: schema)
        layout = RowLayout(definition)
        staging = SQLText.identifier("sluice_staging_\(number)")
    }

    private var columnList: String {
        table.columns.map { SQLText.identifier($0.name) }.joined(separator: ", ")
    }

    /// Takes rows straight into the table.
    var copy: String {
        "COPY \(table.sqlName) (\(columnList)) FROM STDIN (FORMAT binary)"
    }

    /// Makes the staging table: the same columns, no constraints, empty after each transaction.
    var createStaging: String {
        """
        CREATE TEMPORARY TABLE IF NOT EXISTS pg_temp.\(staging) ON COMMIT DELETE ROWS
        AS SELECT \(columnList) FROM \(table.sqlName) WITH NO DATA
        """
    }

    /// Takes rows into the staging table.
    var copyToStaging: String {
        "COPY pg_temp.\(staging) (\(columnList)) FROM STDIN (FORMAT binary)"
    }

    /// Takes from the staging table what is not in the table yet.
    var insertFromStaging: String {
        """
        INSERT INTO \(table.sqlName) (\(columnList)) SELECT \(columnList) FROM pg_temp.\(staging)
        ON CONFLICT ("id") DO NOTHING
        """
    }

    var clearStaging: String { "DELETE FROM pg_temp.\(staging)" }

    var dropStaging: String { "DROP TABLE IF EXISTS pg_temp.\(staging)" }
}

/// The targets of the catalogs that batches were checked against: made once a catalog, not once a delivery.
struct LoadTargets {
    /// How many catalogs are remembered: the one in use, and those that events in flight still have.
    private static let capacity = 4

    private let schema: String
    private var entries: [(catalog: EventCatalog, targets: [LoadTarget])] = []
    private var made = 0

    init(schema: String) {
        self.schema = schema
    }

    /// The targets of a catalog's definitions, by their index.
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
