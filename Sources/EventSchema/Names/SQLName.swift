/// Derives the names of tables and columns from the names of events and properties.
///
/// The linter and the PostgreSQL tracker share it, so a plan that passes the linter can be loaded.
package enum SQLName {
    /// The longest identifier in PostgreSQL, in bytes; the server truncates longer ones.
    package static let maximumBytes = 63

    /// The columns every event's table has before those of its properties.
    package static let ownColumns = [
        "id", "occurred_at", "received_at", "user_id", "anonymous_id", "session_id", "context",
    ]

    /// The column for additional properties, in the tables of events that allow them.
    ///
    /// Other events may have a property of this name, as JustTrack's own example does.
    package static let additionalPropertiesColumn = "extra"

    /// The system columns, which PostgreSQL adds to every table and reserves.
    package static let systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// The table or column for a name: its words in lower case, joined by underscores.
    ///
    /// `Item Purchased`, `itemPurchased` and `item-purchased` all become `item_purchased`; `HTTPServer` becomes
    /// `http_server`. Letters of every script stay as they are. The result is never empty, has at most `maximumBytes` bytes
    /// of UTF-8, cut between code points, and must be quoted in SQL: it may be a keyword or begin with a digit.
    package static func snakeCase(_ name: String) -> String {
        let whole = NameWords.split(name).map { $0.lowercased() }.joined(separator: "_")
        var result = String.UnicodeScalarView()
        var bytes = 0
        for scalar in whole.unicodeScalars {
            bytes += UTF8.width(scalar)
            guard bytes <= maximumBytes else { break }
            result.append(scalar)
        }
        return String(result)
    }
}
