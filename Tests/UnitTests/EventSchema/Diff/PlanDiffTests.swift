import EventSchema
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

    @Test("an event is the same by its name on the wire, else by its key, else it is another")
    func pairing() {
        #expect(Self.kinds([Self.event("A")], [Self.event("B", name: "A")]) == ["'A': key-changed"])
        #expect(Self.kinds([Self.event("A")], [Self.event("A", name: "B")]) == ["'B': name-changed"])
        #expect(Self.kinds([Self.event("A")], [Self.event("B")]) == ["'B': event-added", "'A': event-removed"])
        // Two events that swap their names keep them on the wire, and swap their types.
        let swapped = [Self.event("A", name: "B"), Self.event("B", name: "A")]
        #expect(Self.kinds([Self.event("A"), Self.event("B")], swapped) == ["'B': key-changed", "'A': key-changed"])
        // A name that is free again is no reason to take one event for another.
        let old = [Self.event("A", name: "x"), Self.event("B")]
        #expect(Self.kinds(old, [Self.event("A", name: "B")]) == ["'B': key-changed", "'x': event-removed"])
    }

    @Test("an event that is gone is told with a new one that has its properties, which may be what became of it")
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

    @Test("where definitions stand, the order of events and the case of trackers are no changes")
    func noise() {
        var moved = Self.event("A")
        moved.location = .line(99)
        moved.trackers = ["Kafka", "POSTGRES"]
        #expect(Self.kinds([Self.event("A"), Self.event("B")], [Self.event("B"), moved]) == [])
    }

    @Test("changes within objects and arrays are told by their path")
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
        // Within a `jsonb` no column changes its type.
        #expect(change.impacts.sql.compatibility == .risky)
    }

    @Test("limits that mean the same are no change, and others are compared by what they mean")
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

    @Test("texts that look the same and are others on the wire are others")
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

    @Test("a wider type with the same limits has them still, and narrower ones are told beside the type")
    func widening() {
        let whole = [Self.event("A", [StabilityCase.it(.integer) { $0.minimum = .integer(1) }])]
        func number(_ minimum: Double) -> [EventDefinition] {
            [Self.event("A", [StabilityCase.it(.number) { $0.minimum = .number(minimum) }])]
        }
        #expect(Self.kinds(whole, number(1)) == ["'A', it: type-changed"])
        #expect(Self.kinds(whole, number(2)) == ["'A', it: type-changed", "'A', it: limit-tightened"])
    }

    @Test("nobody is concerned by what an event is for others only")
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

    @Test("the plan's version is a change of the whole plan")
    func version() throws {
        let diff = PlanDiff(from: TrackingPlan(version: "1", events: []), to: TrackingPlan(version: "2", events: []))
        let change = try #require(diff.changes.first)
        #expect(change.subject == nil && change.location == nil)
        #expect(change.sentence == "the plan's version changed from '1' to '2'")
        #expect(change.compatibility == .compatible)
    }
}
