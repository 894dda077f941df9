import EventSchema
import PlanTools
import TestCases
import Testing

@Suite("The diff of two plans")
struct PlanDiffTests {
    private static func kinds(_ old: [EventDefinition], _ new: [EventDefinition]) -> [String] {
        PlanDiff(from: TrackingPlan(events: old), to: TrackingPlan(events: new)).changes
            .map { "\($0.subject ?? "plan"): \($0.kind.rawValue)" }
    }

    private static func event(_ key: String, name: String? = nil, _ properties: [PropertyDefinition] = [])
        -> EventDefinition
    {
        EventDefinition(
            key: key,
            name: name,
            trackers: ["postgres", "kafka"],
            properties: properties,
            location: .line(1)
        )
    }

    /// The impact on senders of JSON when one property is replaced by another.
    private static func forSenders(_ old: PropertyDefinition, _ new: PropertyDefinition) -> Compatibility? {
        let (before, after) = (TrackingPlan(events: [event("A", [old])]), TrackingPlan(events: [event("A", [new])]))
        return PlanDiff(from: before, to: after).changes.map(\.impacts.http.compatibility).max()
    }

    private static func it(_ type: PropertyType, _ values: [String]?) -> PropertyDefinition {
        StabilityCase.it(type) { $0.enumeration = values.map { $0.map(PlanValue.string) } }
    }

    @Test("an enum of uuids or timestamps that becomes strings breaks senders, unless every spelling is allowed")
    func spellings() {
        let letters = ["0190a2b4-0000-4000-8000-000000000000"]
        let upper = ["0190A2B4-0000-4000-8000-000000000000"]
        let mixed = ["0190a2B4-0000-4000-8000-000000000000", "0190A2b4-0000-4000-8000-000000000000"]
        let digits = ["01900204-0000-4000-8000-000000000000"]
        #expect(Self.forSenders(Self.it(.uuid, letters), Self.it(.string, letters)) == .breaking)
        #expect(Self.forSenders(Self.it(.uuid, letters), Self.it(.string, letters + upper)) == .breaking)
        #expect(Self.forSenders(Self.it(.uuid, letters), Self.it(.string, letters + upper + mixed)) == .compatible)
        #expect(Self.forSenders(Self.it(.uuid, digits), Self.it(.string, digits)) == .compatible)
        #expect(Self.forSenders(Self.it(.uuid, letters), Self.it(.string, nil)) == .compatible)
        #expect(Self.forSenders(Self.it(.uuid, nil), Self.it(.string, digits)) == .breaking)
        let times = ["2020-01-01T00:00:00Z"]
        #expect(Self.forSenders(Self.it(.timestamp, times), Self.it(.string, times)) == .breaking)
        #expect(Self.forSenders(Self.it(.timestamp, times), Self.it(.string, nil)) == .compatible)
        let dates = ["2020-01-01"]
        #expect(Self.forSenders(Self.it(.date, dates), Self.it(.string, dates)) == .compatible)
        #expect(Self.forSenders(Self.it(.date, dates), Self.it(.string, ["2020-01-02"])) == .breaking)
    }

    @Test("a key of the context with another Unicode normalization is another key")
    func normalizedContext() {
        func plan(_ name: String) -> TrackingPlan {
            let attribute = ContextAttribute(name: name, sensitivity: .drop, location: .line(1))
            return TrackingPlan(context: [attribute], events: [Self.event("A")])
        }
        let diff = PlanDiff(from: plan("\u{e9}"), to: plan("e\u{301}"))
        #expect(diff.changes.map(\.kind) == [.sensitivityChanged, .sensitivityChanged])
    }

    @Test("a tracker listed in postgresTrackers is judged as PostgreSQL, whatever its name")
    func postgresTrackers() throws {
        func event(_ trackers: [String], declared: [String]) -> EventDefinition {
            var event = EventDefinition(
                key: "A",
                trackers: trackers,
                properties: [StabilityCase.sku],
                location: .line(1)
            )
            event.postgresTrackers = declared
            return event
        }
        func change(_ old: EventDefinition, _ new: EventDefinition) throws -> PlanChange {
            let (before, after) = (TrackingPlan(events: [old]), TrackingPlan(events: [new]))
            return try #require(PlanDiff(from: before, to: after).changes.first)
        }
        // The event loses its table, and readers of canonical lines are not affected.
        let both = event(["Warehouse", "stderr"], declared: ["warehouse"])
        let removal = try change(both, event(["stderr"], declared: []))
        #expect(removal.impacts.sql.compatibility == .breaking && removal.impacts.kafka.compatibility == .compatible)
        // It is enough that one of the plans lists it.
        for (old, new) in [(["warehouse"], []), ([], ["warehouse"])] {
            var (before, after) = (event(["Warehouse"], declared: old), event(["Warehouse"], declared: new))
            before.properties = [StabilityCase.it(.integer)]
            after.properties = [StabilityCase.it(.string)]
            let type = try change(before, after)
            #expect(type.impacts.sql.compatibility == .breaking && type.impacts.kafka.compatibility == .compatible)
        }
        #expect(PlanDiff(from: TrackingPlan(events: [both]), to: TrackingPlan(events: [both])).changes == [])
    }

    @Test("events are paired by their name on the wire, then by their key; others are new")
    func pairing() {
        #expect(Self.kinds([Self.event("A")], [Self.event("B", name: "A")]) == ["'A': key-changed"])
        #expect(Self.kinds([Self.event("A")], [Self.event("A", name: "B")]) == ["'B': name-changed"])
        #expect(Self.kinds([Self.event("A")], [Self.event("B")]) == ["'B': event-added", "'A': event-removed"])
        // Two events that swap their names keep them on the wire, and swap their types.
        let swapped = [Self.event("A", name: "B"), Self.event("B", name: "A")]
        #expect(Self.kinds([Self.event("A"), Self.event("B")], swapped) == ["'B': key-changed", "'A': key-changed"])
        // The name on the wire takes precedence over the key of an event that was removed.
        let old = [Self.event("A", name: "x"), Self.event("B")]
        #expect(Self.kinds(old, [Self.event("A", name: "B")]) == ["'B': key-changed", "'x': event-removed"])
    }

    @Test("an event whose key and name change only in style is paired by its table, unless that is ambiguous")
    func tables() {
        let placed = Self.event("Order Placed", [StabilityCase.sku])
        let restyled = Self.event("order_placed", [StabilityCase.it(.integer)])
        #expect(
            Self.kinds([placed], [restyled]) == [
                "'order_placed': name-changed", "'order_placed', it: required-property-added",
                "'order_placed', sku: property-removed",
            ]
        )
        #expect(
            Self.kinds([placed], [restyled, Self.event("order-placed")]) == [
                "'order_placed': event-added", "'order-placed': event-added", "'Order Placed': event-removed",
            ]
        )
    }

    @Test("a name that changes only in style breaks Swift callers if its type's name changes")
    func restyledTypes() throws {
        for (name, compatibility) in [("http_error", Compatibility.compatible), ("HTTP Error", .breaking)] {
            let old = TrackingPlan(events: [Self.event("Http Error")])
            let change = try #require(PlanDiff(from: old, to: TrackingPlan(events: [Self.event(name)])).changes.first)
            #expect(change.kind == .nameChanged && change.impacts.swift.compatibility == compatibility)
            #expect(change.impacts.sql.compatibility == .compatible)
        }
    }

    @Test("a property whose name changes only in style is paired by its column and compared")
    func columns() throws {
        func property(_ name: String, _ type: PropertyType) -> PropertyDefinition {
            PropertyDefinition(name: name, type: type, location: .line(4))
        }
        let old = Self.event("A", [property("order-id", .integer), StabilityCase.sku])
        let new = Self.event("A", [StabilityCase.sku, property("order_id", .string)])
        #expect(
            Self.kinds([old], [new]) == [
                "'A': properties-reordered", "'A', order_id: type-changed", "'A', order_id: name-changed",
            ]
        )
        let changes = PlanDiff(from: TrackingPlan(events: [old]), to: TrackingPlan(events: [new])).changes
        #expect(changes.map(\.impacts.sql.compatibility) == [.compatible, .breaking, .compatible])
    }

    @Test("allowed values are reordered if their order changes, not if their spelling does")
    func order() {
        func rate(_ values: [String], _ cases: [String: String] = [:]) -> [EventDefinition] {
            let property = StabilityCase.it(.decimal) {
                $0.enumeration = values.map(PlanValue.string)
                $0.swiftCases = cases
            }
            return [Self.event("A", [property])]
        }
        #expect(Self.kinds(rate(["1", "2"]), rate(["2", "1"])) == ["'A', it: enum-reordered"])
        #expect(Self.kinds(rate(["1.0", "2"]), rate(["1", "2"])) == ["'A', it: swift-name-changed"])
        #expect(Self.kinds(rate(["1.0", "2"]), rate(["1", "2"], ["1": "_1_0"])) == [])
        let numbers = StabilityCase.it(.number) { $0.enumeration = [.number(1), .number(2)] }
        #expect(Self.kinds([Self.event("A", [numbers])], rate(["1", "2"])) == ["'A', it: type-changed"])
    }

    @Test("a swiftName that equals the derived name is not a change")
    func statedNames() {
        func size(_ name: String?, type: String? = nil, _ cases: [String: String] = [:]) -> [EventDefinition] {
            let values = PropertyDefinition(
                name: "",
                type: .string,
                swiftName: type,
                swiftCases: cases,
                enumeration: [.string("a b")],
                location: .line(3)
            )
            let sizes = PropertyDefinition(
                name: "the_size",
                type: .array,
                swiftName: name,
                items: values,
                location: .line(2)
            )
            return [Self.event("A", [sizes])]
        }
        #expect(Self.kinds(size(nil), size("theSize", type: "TheSize", ["a b": "aB"])) == [])
        #expect(Self.kinds(size(nil), size(nil, ["a b": "ab"])) == ["'A', the_size[]: swift-name-changed"])
        #expect(Self.kinds(size(nil), size(nil, type: "Size")) == ["'A', the_size: swift-name-changed"])
        // The property and its generated type.
        #expect(Self.kinds(size(nil), size("size")).count == 2)
    }

    @Test("reasons for a property within an object do not mention columns, because it has none")
    func columnless() {
        func object(_ change: (inout PropertyDefinition) -> Void) -> TrackingPlan {
            var inner = StabilityCase.it(.integer, required: false, nullable: true)
            change(&inner)
            return TrackingPlan(events: [
                Self.event("A", [PropertyDefinition(name: "o", type: .object, properties: [inner], location: .line(2))])
            ])
        }
        let required = object { $0.isRequired = true }
        let reasons = [required, object { $0.isNullable = false }, object { $0.name = "It" }].flatMap {
            PlanDiff(from: object { _ in }, to: $0).changes.map(\.impacts.sql.reason)
        }
        #expect(reasons.count == 3)
        #expect(!reasons.contains { $0.contains("column") || $0.contains("NULL") }, "\(reasons)")
    }

    @Test("a removed event is reported with a hint if a new event has the same properties")
    func renaming() throws {
        let old = Self.event("A", [StabilityCase.sku])
        for (new, hint) in [
            (Self.event("B", [StabilityCase.sku]), "; 'B', which is new, has the same properties"),
            (Self.event("B", [StabilityCase.note]), ""),
        ] {
            let diff = PlanDiff(from: TrackingPlan(events: [old]), to: TrackingPlan(events: [new]))
            let change = try #require(diff.changes.last)
            #expect(change.sentence == "the event was removed" + hint)
        }
    }

    @Test("the places of definitions, the order of events and the case of trackers are not changes")
    func noise() {
        var moved = Self.event("A")
        moved.location = .line(99)
        moved.trackers = ["Kafka", "POSTGRES"]
        #expect(Self.kinds([Self.event("A"), Self.event("B")], [Self.event("B"), moved]) == [])
    }

    @Test("changes within objects and arrays are reported with their path")
    func paths() throws {
        func lines(_ price: PropertyType) -> EventDefinition {
            let price = PropertyDefinition(name: "price", type: price, location: .line(4))
            let line = PropertyDefinition(name: "", type: .object, properties: [price], location: .line(3))
            return Self.event("A", [PropertyDefinition(name: "lines", type: .array, items: line, location: .line(2))])
        }
        let diff = PlanDiff(
            from: TrackingPlan(events: [lines(.integer)]),
            to: TrackingPlan(events: [lines(.number)])
        )
        let change = try #require(diff.changes.first)
        #expect(change.subject == "'A', lines[].price")
        #expect(change.location == .line(4))
        // A property within a `jsonb` column has no column type that could change.
        #expect(change.impacts.sql.compatibility == .risky)
    }

    @Test("limits are compared by value, so a different spelling is not a change")
    func limits() {
        func decimal(_ minimum: String) -> [EventDefinition] {
            [Self.event("A", [StabilityCase.it(.decimal) { $0.minimum = .string(minimum) }])]
        }
        func text(_ length: Int?) -> [EventDefinition] {
            [Self.event("A", [StabilityCase.it(.string) { $0.minLength = length }])]
        }
        #expect(Self.kinds(decimal("1.50"), decimal("1.5")) == [])
        #expect(Self.kinds(decimal("9"), decimal("10")) == ["'A', it: limit-tightened"])
        #expect(Self.kinds(text(nil), text(0)) == [])
        #expect(Self.kinds(text(0), text(1)) == ["'A', it: limit-tightened"])
    }

    @Test("texts that look the same but have different code points are different")
    func exactTexts() {
        let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
        #expect(Self.kinds([Self.event("A", name: composed)], [Self.event("A", name: decomposed)]).count == 1)
        func size(_ text: String) -> [EventDefinition] {
            [Self.event("A", [StabilityCase.it(.string) { $0.enumeration = [.string(text)] }])]
        }
        let kinds = Self.kinds(size(composed), size(decomposed))
        #expect(kinds == ["'A', it: enum-value-added", "'A', it: enum-value-removed"])
        func property(_ name: String) -> [EventDefinition] {
            [Self.event("A", [PropertyDefinition(name: name, type: .string, location: .line(2))])]
        }
        #expect(Self.kinds(property(composed), property(decomposed)).count == 2)
    }

    @Test("with a wider type, equal limits are not a change, and narrower limits are reported in addition")
    func widening() {
        let whole = [Self.event("A", [StabilityCase.it(.integer) { $0.minimum = .integer(1) }])]
        func number(_ minimum: Double) -> [EventDefinition] {
            [Self.event("A", [StabilityCase.it(.number) { $0.minimum = .number(minimum) }])]
        }
        #expect(Self.kinds(whole, number(1)) == ["'A', it: type-changed"])
        #expect(Self.kinds(whole, number(2)) == ["'A', it: type-changed", "'A', it: limit-tightened"])
    }

    @Test("a change does not affect audiences that do not receive the event")
    func routes() throws {
        func impacts(of trackers: [String]) throws -> Impacts {
            var old = StabilityCase.sold()
            old.trackers = trackers
            var new = old
            new.properties.removeFirst()
            let diff = PlanDiff(from: TrackingPlan(events: [old]), to: TrackingPlan(events: [new]))
            return try #require(diff.changes.first).impacts
        }
        #expect(try impacts(of: ["Postgres"]).sql.compatibility == .breaking)
        #expect(try impacts(of: ["Postgres"]).kafka.compatibility == .compatible)
        #expect(try impacts(of: ["console", "mine"]).sql.compatibility == .compatible)
        #expect(try impacts(of: ["console", "mine"]).kafka.compatibility == .breaking)
        #expect(try impacts(of: ["console"]).kafka.compatibility == .compatible)
    }

    @Test("a new version of the plan is a change of the whole plan")
    func version() throws {
        let diff = PlanDiff(from: TrackingPlan(version: "1", events: []), to: TrackingPlan(version: "2", events: []))
        let change = try #require(diff.changes.first)
        #expect(change.subject == nil && change.location == nil)
        #expect(change.sentence == "the plan's version changed from '1' to '2'")
        #expect(change.compatibility == .compatible)
    }
}
