import EventSchema
import PlanTools
import SluicePostgres
import Testing

/// The diff's judgement for tables agrees with what the migration does.
@Suite("PostgreSQL: the diff of two plans")
struct PlanDiffTableTests {
    @Test("a change of type is breaking for tables if the migration refuses it", arguments: PropertyType.allCases)
    func types(old: PropertyType) throws {
        for new in PropertyType.allCases where new != old {
            let (before, after) = (event("Sold", [property("it", old)]), event("Sold", [property("it", new)]))
            let change = try #require(Self.diff(before, after).changes.first)
            #expect(change.kind == .typeChanged)
            let refuses = !Self.migration(from: before, to: after).conflicts.isEmpty
            let says = change.impacts.sql.reason.contains("`sluice migrate` refuses")
            #expect(says == refuses, "\(old) becomes \(new)")
            #expect(!refuses || change.impacts.sql.compatibility == .breaking)
        }
    }

    @Test("the diff never calls an optional or removed property compatible if its column loses NOT NULL")
    func presence() throws {
        let before = event("Sold", [property("it", .integer), property("other", .string)])
        for after in [
            event("Sold", [property("it", .integer, required: false), property("other", .string)]),
            event("Sold", [property("it", .integer, nullable: true), property("other", .string)]),
            event("Sold", [property("other", .string)]),
        ] {
            let statements = Self.migration(from: before, to: after).tables.flatMap(\.statements)
            #expect(statements == [#"ALTER TABLE "s"."sold" ALTER COLUMN "it" DROP NOT NULL"#])
            let change = try #require(Self.diff(before, after).changes.first)
            #expect(change.impacts.sql.compatibility > .compatible)
        }
    }

    @Test("the diff calls a changed name or style breaking for tables if the migration creates another table")
    func names() throws {
        for name in ["sold", "SOLD", "Item Sold", "Sold 2"] {
            var after = event("Sold", [])
            after.name = name
            let makes = Self.migration(from: event("Sold", []), to: after).tables.contains(where: \.isNew)
            let change = try #require(Self.diff(event("Sold", []), after).changes.first)
            #expect((change.impacts.sql.compatibility == .breaking) == makes, "\(name)")
        }
    }

    private static func diff(_ old: EventDefinition, _ new: EventDefinition) -> PlanDiff {
        PlanDiff(from: TrackingPlan(events: [old]), to: TrackingPlan(events: [new]))
    }

    /// What the migration does to a database that has the old event's table.
    private static func migration(from old: EventDefinition, to new: EventDefinition) -> SchemaChanges {
        SchemaChanges(from: PresentSchema(EventTable(old, schema: "s")), to: [EventTable(new, schema: "s")])
    }
}
