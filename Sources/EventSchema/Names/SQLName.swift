/// How the names of events and properties become names of tables and columns.
///
/// The linter and the PostgreSQL tracker both ask here, so what lints is what loads.
public enum SQLName {
    /// The tracker that keeps a table for each of its events; compare it without regard to case.
    static let tracker = "postgres"

    /// The longest identifier PostgreSQL keeps; it cuts longer ones in silence.
    public static let maximumBytes = 63

    /// The columns every event's table has before those of its properties.
    public static let ownColumns = [
        "id", "occurred_at", "received_at", "user_id", "anonymous_id", "session_id", "context",
    ]

    /// The column that holds what the plan does not name; only the tables of events that allow such properties have it.
    ///
    /// An event that allows none may have a property of this name, as JustTrack's own example does.
    public static let additionalPropertiesColumn = "extra"

    /// The columns that PostgreSQL gives every table itself, and allows nobody else to define.
    public static let systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// The table or column for a name: its words in lower case, joined by underscores.
    ///
    /// `Item Purchased`, `itemPurchased` and `item-purchased` all become `item_purchased`; `HTTPServer` becomes
    /// `http_server`. Letters of every script stay as they are. The result is never empty, has at most `maximumBytes` bytes
    /// of UTF-8, cut between code points, and is to be quoted in SQL: it may be a keyword or begin with a digit.
    public static func snakeCase(_ name: String) -> String {
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

extension EventDefinition {
    /// Whether its events become rows, and its properties columns.
    var hasTable: Bool { trackers.contains { $0.lowercased() == SQLName.tracker } }
}
