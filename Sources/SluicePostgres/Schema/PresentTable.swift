/// A table as it exists in the database.
package struct PresentTable: Sendable, Hashable {
    /// One column of it.
    package struct Column: Sendable, Hashable {
        package var name: String
        /// The type as `EventTable.Column.accepts(_:)` reads it; see `typeExpression`.
        package var type: String
        package var isNullable: Bool
        /// Whether a row can omit the column even if it is not nullable, because it has a default or is generated.
        package var hasDefault: Bool
        /// Whether a constraint or index makes the column's values unique.
        package var isUnique: Bool
        /// Whether the column belongs to the primary key.
        package var isInPrimaryKey: Bool { primaryKeyPlace != nil }
        /// The column's place in the primary key, from 1; `nil` if it does not belong to it.
        package var primaryKeyPlace: Int?
        package var comment: String?
        /// The role's privileges on the column, by the server's names: SELECT, INSERT, UPDATE.
        package var privileges: Set<String>

        package init(
            name: String,
            type: String,
            isNullable: Bool,
            hasDefault: Bool = false,
            isUnique: Bool = false,
            primaryKeyPlace: Int? = nil,
            comment: String? = nil,
            privileges: Set<String> = ["SELECT", "INSERT", "UPDATE"]
        ) {
            self.name = name
            self.type = type
            self.isNullable = isNullable
            self.hasDefault = hasDefault
            self.isUnique = isUnique
            self.primaryKeyPlace = primaryKeyPlace
            self.comment = comment
            self.privileges = privileges
        }
    }

    package var name: String
    package var columns: [Column]
    package var comment: String?
    /// For which times the table has partitions; `nil` if it is not partitioned by the range of one time, or has a default partition.
    package var coverage: PartitionCoverage?

    package init(name: String, columns: [Column], comment: String? = nil) {
        self.name = name
        self.columns = columns
        self.comment = comment
    }

    /// The columns by which the table recognizes an event that it already has: `id` if it is unique by itself, otherwise the primary
    /// key, in its order, if it contains `id`; empty if neither is the case.
    ///
    /// A table that is partitioned by time can only have a primary key that contains the time.
    package var eventKey: [String] {
        if columns.contains(where: { $0.name == "id" && $0.isUnique }) { return ["id"] }
        let places = columns.compactMap { column in column.primaryKeyPlace.map { (place: $0, name: column.name) } }
        let key = places.sorted { $0.place < $1.place }.map(\.name)
        return key.contains("id") ? key : []
    }

    /// Whether the table recognizes every event that it already has, because all copies of an event have the same key.
    package var recognizesDuplicates: Bool {
        !eventKey.isEmpty && Set(eventKey).isSubset(of: ["id", "occurred_at"])
    }
}

extension PresentTable {
    /// The SQL expression for the type of the column `a` of `pg_attribute`, with everything that changes what is stored.
    ///
    /// It is the spelling of the server's `format_type`, which includes modifiers. A type that is not the server's own always has its
    /// schema, so that its name cannot be that of one of the server's, and a column that does not store the row's value says so.
    static let typeExpression = """
        CASE WHEN a.atttypid >= 16384 AND pg_catalog.pg_type_is_visible(a.atttypid) THEN
            (SELECT t.typnamespace::pg_catalog.regnamespace || '.' FROM pg_catalog.pg_type t WHERE t.oid = a.atttypid)
            ELSE '' END
        || pg_catalog.format_type(a.atttypid, a.atttypmod)
        || CASE WHEN a.attgenerated <> '' THEN ' GENERATED ALWAYS'
            WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
        """
}

/// The contents of a schema of the database.
package struct PresentSchema: Sendable, Hashable {
    package var name: String
    package var exists: Bool
    /// Tables and partitioned tables, by name.
    package var tables: [String: PresentTable]
    /// The role that ran the query; `nil` if the schema does not exist.
    package var role: String?
    /// Whether the role has USAGE on the schema.
    package var isUsable = true
    /// The name of the database if the role may not create temporary tables in it; otherwise `nil`.
    package var databaseWithoutTemporaryTables: String?

    package init(name: String, exists: Bool, tables: [String: PresentTable] = [:]) {
        self.name = name
        self.exists = exists
        self.tables = tables
    }

    /// Selects everything in the schema `$1`: one row for each column, or one row for a table without columns.
    static let query = """
        SELECT c.relname, obj_description(c.oid, 'pg_class'), a.attname, \(PresentTable.typeExpression),
            a.attnotnull, a.atthasdef OR a.attidentity <> '', col_description(c.oid, a.attnum),
            EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid
                AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = a.attnum),
            (SELECT string_agg(p, ' ') FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) p
                WHERE has_column_privilege(c.oid, a.attnum, p)),
            (SELECT array_position((i.indkey::int2[])[0:i.indnkeyatts - 1], a.attnum) FROM pg_catalog.pg_index i
                WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid),
            current_user, has_schema_privilege(n.oid, 'USAGE'),
            CASE WHEN NOT has_database_privilege(current_database(), 'TEMPORARY') THEN current_database() END
        FROM pg_catalog.pg_namespace n
        LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p')
        LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE n.nspname = $1
        ORDER BY c.relname, a.attnum
        """

    /// Creates it from the result of `query`.
    init(name: String, rows: [[String?]]) {
        self.init(name: name, exists: !rows.isEmpty)
        for row in rows where row.count == 13 {
            role = row[10]
            isUsable = row[11] == "t"
            databaseWithoutTemporaryTables = row[12]
            guard let table = row[0] else { continue }
            var present = tables[table] ?? PresentTable(name: table, columns: [], comment: row[1])
            if let column = row[2], let type = row[3] {
                present.columns.append(
                    PresentTable.Column(
                        name: column,
                        type: type,
                        isNullable: row[4] != "t",
                        hasDefault: row[5] == "t",
                        isUnique: row[7] == "t",
                        primaryKeyPlace: row[9].flatMap { Int($0) },
                        comment: row[6],
                        privileges: Set((row[8] ?? "").split(separator: " ").map(String.init))
                    )
                )
            }
            tables[table] = present
        }
    }
}
