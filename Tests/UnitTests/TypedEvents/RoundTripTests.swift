import EventModel
import EventValidation
import GoldenShapes
import TestCases
import Testing

/// Random typed events are encoded, accepted by the validator unchanged, and read back with the same values.
@Suite("Typed events encoded and decoded")
struct RoundTripTests {
    private static let catalog = ShapesEvents.catalog

    /// Encodes the event, and compares its payload with the expected one.
    private func check(_ event: some AnalyticsEvent, _ expected: ReferenceJSON) throws {
        var builder = EventBatchBuilder(catalog: Self.catalog)
        try builder.append(event)
        let finished = builder.finish()
        let batch = try #require(finished)
        #expect(batch.entries[0].definitionIndex == UInt32(type(of: event).definitionIndex))
        let line = Array(batch.line(at: 0))
        let text = String(decoding: line, as: UTF8.self)

        let validator = EventValidator(catalog: Self.catalog, acceptsReceivedAt: true)
        let checked = try line.withUnsafeBytes { try validator.check($0, as: .document) }
        #expect(checked.rejections.isEmpty, "\(text)")
        // Canonical already: the validator has nothing to change.
        #expect(checked.batch.map { Array($0.line(at: 0)) } == line, "\(text)")

        guard case .value(.object(let members)) = ReferenceParser.parse(line),
            let payload = members.first(where: { String(codePoints: $0.key) == "payload" })
        else {
            Issue.record("no JSON object with a payload: \(text)")
            return
        }
        #expect(expected.matches(payload.value), "\(text)")
    }

    @Test("every type, with random values", arguments: 0..<400)
    func everything(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let event = ShapesEvents.Everything(
            stringValue: values.string(),
            integerValue: values.integer(),
            numberValue: values.number(),
            decimalValue: try values.decimal(),
            booleanValue: values.chance(0.5),
            timestampValue: values.timestamp(),
            dateValue: values.date(),
            uuidValue: values.uuid(),
            anyValue: values.json(),
            objectValue: values.members(),
            arrayValue: values.list { $0.json(depth: 2) }
        )
        try check(
            event,
            .object([
                "stringValue": .text(event.stringValue), "integerValue": .integer(event.integerValue),
                "numberValue": .double(event.numberValue), "decimalValue": .decimal(event.decimalValue),
                "booleanValue": .boolean(event.booleanValue), "timestampValue": .text(event.timestampValue.description),
                "dateValue": .text(event.dateValue.description), "uuidValue": .text(event.uuidValue.description),
                "anyValue": .value(event.anyValue), "objectValue": .members(event.objectValue),
                "arrayValue": .value(.array(event.arrayValue)),
            ])
        )
    }

    @Test("every type, mostly absent", arguments: 0..<200)
    func optional(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let event = ShapesEvents.EverythingOptional(
            stringValue: values.maybe { $0.string() },
            integerValue: values.maybe { $0.integer() },
            numberValue: values.maybe { $0.number() },
            decimalValue: values.chance(0.5) ? try values.decimal() : nil,
            booleanValue: values.maybe { $0.chance(0.5) },
            timestampValue: values.maybe { $0.timestamp() },
            dateValue: values.maybe { $0.date() },
            uuidValue: values.maybe { $0.uuid() },
            anyValue: values.maybe { $0.json() },
            objectValue: values.maybe { $0.members() },
            arrayValue: values.maybe { $0.list { $0.json(depth: 2) } }
        )
        try check(
            event,
            .object([
                "stringValue": event.stringValue.map { .text($0) },
                "integerValue": event.integerValue.map { .integer($0) },
                "numberValue": event.numberValue.map { .double($0) },
                "decimalValue": event.decimalValue.map { .decimal($0) },
                "booleanValue": event.booleanValue.map { .boolean($0) },
                "timestampValue": event.timestampValue.map { .text($0.description) },
                "dateValue": event.dateValue.map { .text($0.description) },
                "uuidValue": event.uuidValue.map { .text($0.description) },
                "anyValue": event.anyValue.map { .value($0) }, "objectValue": event.objectValue.map { .members($0) },
                "arrayValue": event.arrayValue.map { .value(.array($0)) },
            ])
        )
    }

    @Test("a required, nullable property without a value is null", arguments: 0..<50)
    func nullable(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let event = ShapesEvents.EverythingNullable(
            stringValue: values.maybe { $0.string() },
            integerValue: nil,
            decimalValue: nil,
            anyValue: values.maybe { $0.json() },
            arrayValue: nil
        )
        try check(
            event,
            .object([
                "stringValue": event.stringValue.map { .text($0) } ?? .null, "integerValue": .null,
                "numberValue": .null,
                "decimalValue": .null, "booleanValue": .null, "timestampValue": .null, "dateValue": .null,
                "uuidValue": .null, "anyValue": event.anyValue.map { .value($0) } ?? .null, "objectValue": .null,
                "arrayValue": .null,
            ])
        )
    }

    @Test("every value of every enum", arguments: 0..<100)
    func choices(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let event = ShapesEvents.ChoiceMade(
            country: values.pick(ShapesEvents.ChoiceMade.Country.allCases),
            size: values.pick(ShapesEvents.ChoiceMade.Size.allCases),
            rate: values.pick(ShapesEvents.ChoiceMade.Rate.allCases),
            amount: values.pick(ShapesEvents.ChoiceMade.Amount.allCases),
            agreed: .`true`,
            moment: values.pick(ShapesEvents.ChoiceMade.Moment.allCases),
            day: values.pick(ShapesEvents.ChoiceMade.Day.allCases),
            key: values.pick(ShapesEvents.ChoiceMade.Key.allCases),
            maybe: values.maybe { $0.pick(ShapesEvents.ChoiceMade.Maybe.allCases) },
            several: values.list { $0.pick(ShapesEvents.ChoiceMade.Several.allCases) }
        )
        let amount = event.amount == ._1_50 ? "1.50" : "1000"
        let moment = try #require(Timestamp(event.moment.rawValue)).description
        try check(
            event,
            .object([
                "country": .text(event.country.rawValue), "size": .integer(event.size.rawValue),
                "rate": .double(event.rate.rawValue), "amount": .text(amount), "agreed": .boolean(true),
                "moment": .text(moment), "day": .text(event.day.rawValue),
                "key": .text(event.key.rawValue.lowercased()),
                "maybe": event.maybe.map { .text($0.rawValue) },
                "several": .array(event.several.map { .text($0.rawValue) }),
            ])
        )
    }

    @Test("objects in objects, in arrays, and arrays in arrays", arguments: 0..<200)
    func nested(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let event = ShapesEvents.OrderShipped(
            address: .init(
                street: String(values.string().prefix(40)),
                zip: "12345",
                floor: values.maybe { $0.integer() },
                geo: values.maybe { .init(lat: Double($0.pick([-90, 0, 48])), lon: 16.37) }
            ),
            items: values.list {
                .init(sku: $0.string(), quantity: $0.pick([1, 7, .max]), note: $0.maybe { $0.string() })
            },
            grid: values.maybe { $0.list { $0.list { $0.maybe { $0.integer() } } } },
            payload: values.maybe { $0.string() }
        )
        let geo = event.address.geo.map { ReferenceJSON.object(["lat": .double($0.lat), "lon": .double($0.lon)]) }
        let items = event.items.map { item in
            ReferenceJSON.object([
                "sku": .text(item.sku), "quantity": .integer(item.quantity), "note": item.note.map { .text($0) },
            ])
        }
        let grid = event.grid.map { rows in
            ReferenceJSON.array(rows.map { .array($0.map { $0.map { .integer($0) } ?? .null }) })
        }
        try check(
            event,
            .object([
                "address": .object([
                    "street": .text(event.address.street), "zip": .text("12345"),
                    "floor": event.address.floor.map { .integer($0) }, "geo": geo,
                ]),
                "items": .array(items), "grid": grid, "payload": event.payload.map { .text($0) },
            ])
        )
    }

    @Test("additional properties come after the plan's, in the order of their keys", arguments: 0..<100)
    func additional(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let event = ShapesEvents.AnythingGoes(
            known: values.maybe { $0.string() },
            additionalProperties: values.members()
        )
        guard case .object(let others) = ReferenceJSON.members(event.additionalProperties) else { return }
        let known = event.known.map { [ReferenceMember.named("known", .text($0))] } ?? []
        try check(event, .object(known + others))
    }

    @Test("an event without properties")
    func empty() throws {
        try check(ShapesEvents.NothingSaid(), .object([]))
    }
}
