import EventModel

/// A column of a partition, and how its values are summarized and compared.
///
/// Every value of a receipt is a text. The texts of values that are no numbers sort by their bytes, as they do in other programs.
struct ArchivedColumn {
    private enum Kind {
        case integer
        case decimal
        /// A number whose text differs between programs, and whose sum depends on the order of the rows.
        case double
        case boolean
        case time
        case date
        /// Everything else, by PostgreSQL's text.
        case text
    }

    let name: String
    private let kind: Kind

    /// Creates a column from its type, in the server's spelling.
    init(name: String, type: String) {
        self.name = name
        kind =
            switch type {
            case "smallint", "integer", "bigint": .integer
            case "numeric": .decimal
            case "real", "double precision": .double
            case "boolean": .boolean
            case "timestamp with time zone": .time
            case "date": .date
            default: .text
            }
    }

    /// The expressions of the number of NULLs, the least and the greatest value, and the sum.
    var expressions: [String] {
        let column = SQLText.identifier(name)
        let nulls = "count(*) - count(\(column))"
        func limits(_ expression: (_ aggregate: String) -> String) -> [String] { ["min", "max"].map(expression) }
        switch kind {
        case .integer, .decimal:
            return [nulls] + limits { "\($0)(\(column))::text" } + ["sum(\(column))::text"]
        case .double:
            return [nulls] + limits { "\($0)(\(column))::float8::text" } + ["NULL"]
        case .boolean:
            return [nulls, "bool_and(\(column))::text", "bool_or(\(column))::text", "NULL"]
        case .time:
            let format = #"'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"#
            return [nulls] + limits { "to_char(\($0)(\(column)) AT TIME ZONE 'UTC', \(format))" } + ["NULL"]
        case .date:
            return [nulls] + limits { "to_char(\($0)(\(column)), 'YYYY-MM-DD')" } + ["NULL"]
        case .text:
            return [nulls] + limits { "\($0)(\(column)::text COLLATE \"C\")" } + ["NULL"]
        }
    }

    /// Whether two texts state the same value.
    func isSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        // `==` would also accept another Unicode normalization.
        if left.utf8.elementsEqual(right.utf8) { return true }
        switch kind {
        case .integer, .decimal:
            guard let left = ExactDecimal(left), let right = ExactDecimal(right) else { return false }
            return left == right
        case .double:
            guard let left = Double(left), let right = Double(right) else { return false }
            return left == right
        case .boolean, .time, .date, .text:
            return false
        }
    }
}

extension ArchivedColumn {
    /// Reads the columns of a table.
    static func read(
        of sqlName: String,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> [ArchivedColumn] {
        let rows = try connection.rows(
            of: """
                SELECT a.attname, coalesce(nullif(t.typbasetype, 0), t.oid)::pg_catalog.regtype
                FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
                WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped
                ORDER BY a.attnum
                """,
            parameters: [sqlName],
            limit
        )
        return rows.compactMap { row in
            guard row.count == 2, let name = row[0], let type = row[1] else { return nil }
            return ArchivedColumn(name: name, type: type)
        }
    }
}
