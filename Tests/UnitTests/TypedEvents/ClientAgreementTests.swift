import EventModel
import EventValidation
import GoldenClient
import GoldenShapes
import SluiceClient
import TestCases
import Testing

/// The encoder of the client, which has no C libraries, agrees with the one of the pipeline.
@Suite("Typed events of the client")
struct ClientAgreementTests {
    private static let id = EventID(high: 0x0190_A2B4_0000_7000, low: 0x8000_0000_0000_0001)
    private static let time = Timestamp(microseconds: 1_700_000_000_000_000)

    /// The line that the server makes of the client's line, and the one of the pipeline, must be the same.
    private func check(
        _ client: some SluiceClient.AnalyticsEvent,
        _ service: some EventValidation.AnalyticsEvent,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let context = SluiceClient.EventContext(userID: "u\"", sessionID: "s", attributes: ["b": [1, nil], "a": 2.5])
        let sent = try EventLine.encode(client, context, id: Self.id, time: Self.time)
        let validator = EventValidator(catalog: ShapesEvents.catalog, now: { Self.time })
        let checked = try validator.check(bytes: sent, as: .lines)
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog, now: { Self.time })
        try builder.append(
            service,
            context: EventValidation.EventContext(
                userID: "u\"",
                sessionID: "s",
                attributes: ["b": [1, nil], "a": 2.5]
            ),
            id: Self.id,
            time: Self.time
        )
        let batch = builder.finish()
        #expect(
            checked.lines == batch.map { [String(decoding: $0.line(at: 0), as: UTF8.self)] },
            "\(checked.verdicts)",
            sourceLocation: sourceLocation
        )
    }

    @Test("every type, with random values", arguments: 0..<100)
    func everything(seed: UInt64) throws {
        var values = RandomValues(seed: seed)
        let (string, integer, number) = (values.string(), values.integer(), values.number())
        let (decimal, boolean, timestamp) = (try values.decimal(), values.chance(0.5), values.timestamp())
        let (date, uuid, any, object) = (values.date(), values.uuid(), values.json(), values.members())
        let array = values.list { $0.json(depth: 2) }
        try check(
            ClientShapes.Everything(
                stringValue: string,
                integerValue: integer,
                numberValue: number,
                decimalValue: decimal,
                booleanValue: boolean,
                timestampValue: timestamp,
                dateValue: date,
                uuidValue: uuid,
                anyValue: any,
                objectValue: object,
                arrayValue: array
            ),
            ShapesEvents.Everything(
                stringValue: string,
                integerValue: integer,
                numberValue: number,
                decimalValue: decimal,
                booleanValue: boolean,
                timestampValue: timestamp,
                dateValue: date,
                uuidValue: uuid,
                anyValue: any,
                objectValue: object,
                arrayValue: array
            )
        )
    }

    @Test("absent values, allowed values, objects in arrays, and properties that the plan does not name")
    func shapes() throws {
        try check(ClientShapes.EverythingOptional(), ShapesEvents.EverythingOptional())
        try check(ClientShapes.EverythingNullable(), ShapesEvents.EverythingNullable())
        try check(
            ClientShapes.ChoiceMade(
                country: .france,
                size: ._42,
                rate: .minus1_25,
                amount: ._1_50,
                agreed: .true,
                moment: ._2024_02_29T12_00_00_250_01_00,
                day: ._2024_02_29,
                key: ._0190f3a4_0000_7000_8000_00000000abcd,
                several: [.a, .b]
            ),
            ShapesEvents.ChoiceMade(
                country: .france,
                size: ._42,
                rate: .minus1_25,
                amount: ._1_50,
                agreed: .true,
                moment: ._2024_02_29T12_00_00_250_01_00,
                day: ._2024_02_29,
                key: ._0190f3a4_0000_7000_8000_00000000abcd,
                several: [.a, .b]
            )
        )
        try check(
            ClientShapes.AnythingGoes(additionalProperties: ["z": 1, "a": ["b": []]]),
            ShapesEvents.AnythingGoes(additionalProperties: ["z": 1, "a": ["b": []]])
        )
    }

    @Test("an event that breaks rules has the same violations, except for patterns, which the server checks")
    func violations() {
        let client = ClientShapes.LimitsKept(code: "ABCDE", count: 11, share: -0.5, price: 1000, tags: ["x", ""])
        let service = ShapesEvents.LimitsKept(code: "ABCDE", count: 11, share: -0.5, price: 1000, tags: ["x", ""])
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
        var expected: [String] = []
        do throws(EventValidation.InvalidEvent) {
            try builder.append(service)
        } catch {
            expected = error.violations.map { "\($0.code) \($0.path)" }
        }
        var found: [String] = []
        do throws(SluiceClient.InvalidEvent) {
            _ = try EventLine.encode(client, SluiceClient.EventContext(), id: Self.id, time: Self.time)
        } catch {
            found = error.violations.map { "\($0.code) \($0.path)" }
        }
        #expect(found == expected.filter { !$0.hasPrefix("pattern-mismatch") })
        #expect(found.count == 5)
    }

    @Test("a NUL character, a number that JSON does not have, and an event of more than 1 MiB are violations")
    func unstorable() {
        func codes(
            _ event: some SluiceClient.AnalyticsEvent,
            _ context: SluiceClient.EventContext = SluiceClient.EventContext()
        ) -> [String] {
            do throws(SluiceClient.InvalidEvent) {
                _ = try EventLine.encode(event, context, id: Self.id, time: Self.time)
                return []
            } catch {
                return error.violations.map { "\($0.code) \($0.path)" }
            }
        }
        #expect(codes(ClientShapes.AnythingGoes(known: "a\u{0}")) == ["malformed-json $.payload.known"])
        #expect(
            codes(ClientShapes.AnythingGoes(additionalProperties: ["a": [1, .number(.nan)]]))
                == ["out-of-range $.payload.a[1]"]
        )
        let long = String(repeating: "x", count: 1 << 20)
        #expect(codes(ClientShapes.AnythingGoes(known: long)) == ["too-large $"])
        #expect(
            codes(ClientShapes.AnythingGoes(additionalProperties: ["a b": ["it's": .number(.nan)]]))
                == [#"out-of-range $.payload['a b']['it\'s']"#]
        )
        let context = SluiceClient.EventContext(userID: "a\u{0}", attributes: ["b": ["c": .number(.infinity)]])
        #expect(
            codes(ClientShapes.AnythingGoes(known: "a\u{0}"), context) == [
                "malformed-json $.userId", "out-of-range $.context.b.c", "malformed-json $.payload.known",
            ]
        )
    }
}
