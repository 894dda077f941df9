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
    private let columnList: String
    private let nulls: String

    init(_ definition: EventDefinition, schema: String, number: Int) {
        table = EventTable(definition, schema: schema)
        columnList = table.columns.map { SQLText.identifier($0.name) }.joined(separator: ", ")
        nulls = table.columns.map { _ in "NULL" }.joined(separator: ", ")
        layout = RowLayout(definition)
        self.number = number
        staging = SQLText.identifier("sluice_staging_\(number)")
    }

    /// Copies rows straight into the table.
    var copy: String {
        "\(lockAndReadTypes); COPY \(table.sqlName) (\(columnList)) FROM STDIN (FORMAT binary)"
    }

    /// Creates the staging table: the planned columns and the row's place, no constraints, emptied after each transaction.
    var createStaging: String {
        let columns = table.columns.map { "\(SQLText.identifier($0.name)) \($0.type.catalogName)" }
        return """
            CREATE TEMPORARY TABLE IF NOT EXISTS \(staging)
            (\(columns.joined(separator: ", ")), \(place) bigint GENERATED ALWAYS AS IDENTITY) ON COMMIT DELETE ROWS
            """
    }

    /// The column of the staging table that says in which order the rows were sent; no other order in the server does.
    var place: String {
        var name = "_sluice_place"
        while table.columns.contains(where: { $0.name == name }) { name += "_" }
        return SQLText.identifier(name)
    }

    /// Copies rows into the staging table.
    var copyToStaging: String {
        "\(lockAndReadTypes); COPY pg_temp.\(staging) (\(columnList)) FROM STDIN (FORMAT binary)"
    }

    /// Takes the lock of the table that `COPY` and `INSERT` take, then selects the name and the type of each of its columns.
    ///
    /// The lock lasts until the end of the transaction, or until a rollback to a savepoint before it, so nobody changes the types
    /// that were read. It fails for the same reasons as any row does if the table is missing, locked or without a privilege. `EXPLAIN` runs nothing and needs the privileges that `COPY` needs; `LOCK TABLE` would need more.
    var lockAndReadTypes: String {
        """
        EXPLAIN INSERT INTO \(table.sqlName) (\(columnList)) VALUES (\(nulls));
        SELECT a.attname, \(PresentTable.typeExpression) FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = \(SQLText.literal(table.sqlName))::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped
        """
    }

    /// The failure if the table has a column, by the rows of the second statement of `lockAndReadTypes`, that does not store each
    /// value exactly.
    func mismatch(with rows: [[String?]]) -> PostgresFailure? {
        var types: [String: String] = [:]
        for row in rows where row.count == 2 {
            if let name = row[0], let type = row[1] { types[name] = type }
        }
        return table.mistypedColumn(in: types).map(PostgresFailure.mistyped)
    }

    /// Inserts the staged rows whose key is not in the table yet; all of them if the table has no key.
    ///
    /// The conflict target is the key, because a row that violates another unique index must fail instead of being skipped. The
    /// order is that of the key, so that two sessions that insert some of the same rows wait for each other and cannot deadlock;
    /// of several rows with one key, the first is stored.
    ///
    /// With `recentIDs`, it is the first of several rows with one id, whatever their times are, and none if the id is remembered.
    func insertFromStaging(key: [String], recentIDs: RecentIDs? = nil, where condition: String = "true") -> String {
        guard let recentIDs else { return insertFromStaging(key: key, where: condition) }
        let store = recentIDs.store(from: staging, place: place, of: table.name, where: condition)
        let insert = insertFromStaging(key: key, where: "s.\(place) IN (SELECT place FROM fresh)")
        return "\(store) \(insert)"
    }

    private func insertFromStaging(key: [String], where condition: String) -> String {
        let columns = table.columns.map { "s." + SQLText.identifier($0.name) }.joined(separator: ", ")
        let insert = """
            INSERT INTO \(table.sqlName) (\(columnList)) SELECT \(columns) FROM pg_temp.\(staging) s WHERE \(condition)
            """
        if key.isEmpty { return insert }
        let order = key.map { "s." + SQLText.identifier($0) }.joined(separator: ", ")
        let key = key.map(SQLText.identifier).joined(separator: ", ")
        return "\(insert) ORDER BY \(order), s.\(place) ON CONFLICT (\(key)) DO NOTHING"
    }

    var clearStaging: String { "DELETE FROM pg_temp.\(staging)" }
}

extension PostgresFailure {
    /// A column of the table has been altered; the code is the server's for an expression that has another type than its column.
    fileprivate static func mistyped(_ column: EventTable.Column, as type: String) -> PostgresFailure {
        PostgresFailure(
            source: .server,
            sqlState: "42804",
            message:
                "the column \(SQLText.identifier(column.name)) has type \(type), and the plan wants \(column.type.sql)"
        )
    }
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
