import EventSchema

/// The columns that a row keeps when it is anonymised.
///
/// These are listed, and not those that are emptied, because the plan does not say what other columns contain: those of events and
/// properties that it no longer has, those of additional properties, and those that an operator has added.
struct KeptColumns {
    /// Which event it was, and when; no property has these names.
    private static let ofEveryEvent: Set = ["id", "occurred_at", "received_at"]

    private let schema: String
    /// The columns of properties, by the name of the table.
    private let ofProperties: [String: Set<String>]

    /// The columns of the tables of a tracker in a schema.
    init(_ plan: TrackingPlan, tracker: String, schema: String) {
        self.schema = schema
        let name = tracker.lowercased()
        var ofProperties: [String: Set<String>] = [:]
        for event in plan.events where event.trackers.contains(where: { $0.lowercased() == name }) {
            var columns = Set(event.properties.map { SQLName.snakeCase($0.name) })
            columns.subtract(event.properties.filter { !$0.isHarmless }.map { SQLName.snakeCase($0.name) })
            columns.subtract(SQLName.ownColumns)
            if event.allowsAdditionalProperties { columns.remove(SQLName.additionalPropertiesColumn) }
            ofProperties[SQLName.snakeCase(event.name), default: columns].formIntersection(columns)
        }
        self.ofProperties = ofProperties
    }

    /// Whether a column of a table is kept.
    func contains(_ column: String, in table: ErasureStatements.Table) -> Bool {
        // A partition that is being detached has the name of no event.
        Self.ofEveryEvent.contains(column)
            || table.schema == schema && ofProperties[table.name]?.contains(column) == true
    }
}

/// A column whose values are removed from anonymised rows.
struct EmptiedColumn: Sendable {
    let name: String
    /// Whether it is NOT NULL.
    let isRequired: Bool
    /// Whether it has a default.
    let hasDefault: Bool

    /// Whether it has to become nullable first.
    var rejectsNull: Bool { isRequired && !hasDefault }
    /// What an UPDATE sets.
    var assignment: String { "\(SQLText.identifier(name)) = \(isRequired && hasDefault ? "DEFAULT" : "NULL")" }
}

extension PropertyDefinition {
    /// Whether the plan describes everything that a value can contain, and marks none of it as sensitive.
    fileprivate var isHarmless: Bool {
        guard sensitivity == nil else { return false }
        return switch type.kind {
        case .any: false
        case .array: items?.isHarmless == true
        case .object: properties?.allSatisfy(\.isHarmless) == true
        case .string, .integer, .number, .decimal, .boolean, .timestamp, .date, .uuid: true
        }
    }
}
