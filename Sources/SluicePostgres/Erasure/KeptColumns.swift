import EventModel
import EventSchema

/// The columns that a row keeps when it is anonymised.
///
/// These are listed, and not those that are emptied, because the plan does not say what other columns contain: those of events and
/// properties that it no longer has, those of additional properties, and those that an operator has added.
struct KeptColumns {
    /// Which event it was, and when; no property has these names.
    private static let ofEveryEvent: Set = ["id", "occurred_at", "received_at"]

    private let schema: String
    /// The columns of properties, by the name of the table and their own.
    private let ofProperties: [ExactText: [ExactText: EventTable.Column]]

    /// The columns of the tables in a schema; trackers of the same schema share them.
    init(_ plan: TrackingPlan, schema: String) {
        self.schema = schema
        var ofProperties: [ExactText: [ExactText: EventTable.Column]] = [:]
        for event in plan.events {
            let table = EventTable(event, schema: schema)
            let column = { (property: PropertyDefinition) in ExactText(SQLName.snakeCase(property.name)) }
            var names = Set(event.properties.map(column))
            names.subtract(event.properties.filter { !$0.isHarmless }.map(column))
            names.subtract(SQLName.ownColumns.map(ExactText.init))
            if event.allowsAdditionalProperties { names.remove(ExactText(SQLName.additionalPropertiesColumn)) }
            let kept = table.columns.map { (ExactText($0.name), $0) }.filter { names.contains($0.0) }
            let columns = Dictionary(kept) { $1 }
            // Two events that share a table by their names keep what both keep.
            let name = ExactText(table.name)
            ofProperties[name] =
                ofProperties[name].map { earlier in
                    columns.filter { earlier[$0.key]?.accepts($0.value.type.sql) == true }
                } ?? columns
        }
        self.ofProperties = ofProperties
    }

    /// Whether a column of a table is kept; the plan describes its values only if it also has the type that the plan needs.
    func contains(_ column: String, of type: String, in table: ErasureStatements.Table) -> Bool {
        // A partition that is being detached has the name of no event.
        Self.ofEveryEvent.contains(column)
            || table.schema == schema && ofProperties[ExactText(table.name)]?[ExactText(column)]?.accepts(type) == true
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
