/// How the names of events and properties become names of tables and columns.
///
/// The linter and the PostgreSQL tracker both ask here, so what lints is what loads.
package enum SQLName {
    /// The tracker that keeps a table for each of its events, whatever a plan says; compare it without regard to case.
    static let tracker = "postgres"

    /// The longest identifier PostgreSQL keeps; it cuts longer ones in silence.
    package static let maximumBytes = 63

    /// The columns every event's table has before those of its properties.
    package static let ownColumns = [
        "id", "occurred_at", "received_at", "user_id", "anonymous_id", "session_id", "context",
    ]

    /// The column that holds what the plan does not name; only the tables of events that allow such properties have it.
    ///
    /// An event that allows none may have a property of this name, as JustTrack's own example does.
    package static let additionalPropertiesColumn = "extra"

    /// The columns that PostgreSQL gives every table itself, and allows nobody else to define.
    package static let systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// The table or column for a name: its words in lower case, joined by underscores.
    ///
    /// `Item Purchased`, `itemPurchased` and `item-purchased` all become `item_purchased`; `HTTPServer` becomes
    /// `http_server`. Letters of every script stay as they are. The result is never empty, has at most `maximumBytes` bytes
    /// of UTF-8, cut between code points, and is to be quoted in SQL: it may be a keyword or begin with a digit.
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

extension EventDefinition {
    /// Whether its events become rows, and its properties columns.
    package var hasTable: Bool { trackers.contains(where: fillsTable) }

    /// Whether a tracker keeps a table for its events.
    package func fillsTable(_ tracker: String) -> Bool {
        tracker.lowercased() == SQLName.tracker || postgresTrackers.contains(tracker.lowercased())
    }

    /// Notes which of its trackers keep a table; `postgresTrackers` are names in lower case.
    package mutating func notePostgresTrackers(_ postgresTrackers: Set<String>) {
        self.postgresTrackers = trackers.map { $0.lowercased() }.filter(postgresTrackers.contains)
    }
}

extension TrackingPlan {
    /// The same plan, in which these trackers keep tables.
    package func notingPostgresTrackers(_ postgresTrackers: Set<String>) -> TrackingPlan {
        var plan = self
        for index in plan.events.indices { plan.events[index].notePostgresTrackers(postgresTrackers) }
        return plan
    }
}
