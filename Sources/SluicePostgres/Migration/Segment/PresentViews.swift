import Hashing

/// What a schema has under the names of Sluice's views.
struct PresentViews: Sendable, Hashable {
    /// A column of a view.
    struct Column: Sendable, Hashable {
        let name: String
        /// The type in the spelling of the server's `format_type`.
        let type: String
    }

    /// A view that Sluice made.
    struct View: Sendable, Hashable {
        let comment: String
        var columns: [Column]
    }

    /// Something else has the name of a view; a sentence.
    struct Foreign: Error {
        let message: String
    }

    /// Whether the schema exists.
    let schemaExists: Bool
    private let schema: String
    /// The relations by their names; those that are no views have no comment.
    private var relations: [String: View] = [:]

    /// Selects the columns of the relations `$2`, an array, of the schema `$1`.
    static let query = """
        SELECT c.relname, CASE WHEN c.relkind = 'v' THEN obj_description(c.oid, 'pg_class') END,
            a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
        FROM pg_catalog.pg_namespace n
        LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = ANY ($2::text[])
        LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE n.nspname = $1
        ORDER BY c.relname, a.attnum
        """

    /// Creates it from the result of `query`.
    init(schema: String, rows: [[String?]]) {
        self.schema = schema
        schemaExists = !rows.isEmpty
        for row in rows where row.count == 4 {
            guard let name = row[0] else { continue }
            var view = relations[name] ?? View(comment: row[1] ?? "", columns: [])
            if let column = row[2], let type = row[3] { view.columns.append(Column(name: column, type: type)) }
            relations[name] = view
        }
    }

    /// The views that Sluice made.
    var ownNames: [String] { relations.filter { $0.value.comment.contains(Self.maker) }.keys.sorted() }

    /// Part of the comment of each view that Sluice made.
    static let maker = "made by sluice migrate --segment-views"

    /// A view of this name, which has a comment that begins with the mark; `nil` if there is none.
    func view(_ name: String, markedWith mark: String) throws(Foreign) -> View? {
        guard let found = relations[name] else { return nil }
        guard found.comment.hasPrefix(mark) else {
            throw Foreign(
                message: """
                    \(SQLText.identifier(schema)).\(SQLText.identifier(name)) exists, and was not made by \
                    `sluice migrate --segment-views` for this schema. Nothing was changed there; rename it.
                    """
            )
        }
        return found
    }

    /// A digest by which a comment says what the view's definition is.
    static func digest(of definition: String) -> String {
        String(SHA256Digest(of: Array(definition.utf8)).hexadecimal.prefix(16))
    }
}
