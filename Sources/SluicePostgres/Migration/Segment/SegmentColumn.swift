/// A column of a view in Segment's form.
struct SegmentColumn: Sendable, Hashable {
    let name: String
    private let expression: Expression

    private enum Expression: Hashable {
        case sql(String)
        case eventName
        case tableName
    }

    private init(_ name: String, _ sql: String) {
        self.name = name
        expression = .sql(sql)
    }

    private init(_ name: String, _ expression: Expression) {
        self.name = name
        self.expression = expression
    }

    /// A column of the table, unchanged.
    init(column: String) {
        self.init(column, SQLText.identifier(column))
    }

    /// A column that an existing view has and for which the table has no value any more.
    init(lost name: String, type: String) {
        self.init(name, "NULL::\(type)")
    }

    /// The expression and its name.
    func sql(event: String, table: String) -> String {
        let value =
            switch expression {
            case .sql(let sql): sql
            case .eventName: "\(SQLText.literal(event))::text"
            case .tableName: "\(SQLText.literal(table))::text"
            }
        return "\(value) AS \(SQLText.identifier(name))"
    }

    /// A column of a page, which clients send as a property, and browsers also in the context.
    ///
    /// - Parameters:
    ///   - isColumn: Whether the table has a column for the property.
    ///   - hasExtra: Whether the table has a column for properties that the plan does not name.
    /// - Returns: The column with the first value that there is, as text.
    func property(isColumn: Bool, hasExtra: Bool) -> SegmentColumn {
        let values =
            (isColumn ? ["\(SQLText.identifier(name))::text"] : [])
            + (hasExtra ? ["extra ->> \(SQLText.literal(name))"] : [])
            + ["context #>> '{page,\(name)}'"]
        return SegmentColumn(name, values.count == 1 ? values[0] : "coalesce(\(values.joined(separator: ", ")))")
    }

    // MARK: Segment's columns

    /// The columns of every view.
    ///
    /// With a corrected clock, an event was sent when it was received.
    static let base = [
        SegmentColumn("id", "id::text"),
        SegmentColumn("anonymous_id", "anonymous_id"),
        SegmentColumn("user_id", "user_id"),
        SegmentColumn("received_at", "received_at"),
        SegmentColumn("sent_at", "received_at"),
        SegmentColumn("timestamp", "occurred_at"),
    ]

    /// The name of the event's table, which is Segment's `event` too.
    static let event = SegmentColumn("event", .tableName)
    /// The name of the event.
    static let eventText = SegmentColumn("event_text", .eventName)

    /// What Segment's libraries for browsers say about a page.
    static let page = ["url", "path", "title", "search", "referrer"].map { SegmentColumn($0, "") }

    /// What Segment's libraries say about where an event happened.
    static let context =
        ["source", "medium", "name", "term", "content"].map { part in
            SegmentColumn("context_campaign_\(part)", "context #>> '{campaign,\(part)}'")
        } + [
            SegmentColumn("context_ip", "context ->> 'ip'"),
            SegmentColumn("context_user_agent", "context ->> 'userAgent'"),
        ]
}
