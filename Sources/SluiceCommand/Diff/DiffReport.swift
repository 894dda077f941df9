import EventSchema
import PlanTools

/// The output of `sluice diff --format json`.
struct DiffReport: Encodable {
    struct Change: Encodable {
        var kind: String
        var compatibility: String
        /// Absent if the change concerns the whole plan.
        var event: String?
        /// Absent if the change concerns the event itself.
        var property: String?
        var sentence: String
        var path: String?
        var line: Int?
        var column: Int?
        /// By audience: `swift`, `http`, `sql` and `kafka`.
        var impacts: [String: Impact]
    }

    struct Impact: Encodable {
        var compatibility: String
        var reason: String
    }

    var breaking: Int
    var risky: Int
    var compatible: Int
    var changes: [Change]

    init(_ diff: PlanDiff) {
        breaking = diff.changes(.breaking).count
        risky = diff.changes(.risky).count
        compatible = diff.changes(.compatible).count
        changes = diff.changes.map { change in
            let impacts = Audience.allCases.map { audience in
                let impact = change.impacts[audience]
                return (audience.rawValue, Impact(compatibility: impact.compatibility.rawValue, reason: impact.reason))
            }
            return Change(
                kind: change.kind.rawValue,
                compatibility: change.compatibility.rawValue,
                event: change.event,
                property: change.property,
                sentence: change.sentence,
                path: change.location?.file,
                line: change.location?.line,
                column: change.location?.column,
                impacts: Dictionary(uniqueKeysWithValues: impacts)
            )
        }
    }
}
