import EventSchema
import SluiceExec
import Testing

@Suite("The schema of a Singer stream")
struct RecordSchemaTests {
    private static let nowhere = PlanLocation(file: "plan.plist", line: 1, column: 1)

    private static func property(_ name: String, _ type: PropertyType) -> PropertyDefinition {
        PropertyDefinition(name: name, type: type, location: nowhere)
    }

    private static func event(_ properties: [PropertyDefinition], description: String? = nil) -> EventDefinition {
        EventDefinition(
            key: "Song Played",
            description: description,
            trackers: ["exec"],
            properties: properties,
            location: nowhere
        )
    }

    /// The schemas of the properties of an event, without what is around them.
    private static func schema(
        of properties: [PropertyDefinition],
        _ decimals: SingerDecimals = .strings
    ) throws -> String {
        let schema = RecordSchema.schema(of: event(properties), decimals: decimals).line
        let part = try #require(
            schema.firstMatch(of: /"payload": \{"type": \["null", "object"\], "properties": \{(.*)\}\}\}\}/)
        )
        return String(part.1)
    }

    @Test("is that of the canonical line: what every line has, and the rest with null for what is absent")
    func envelope() {
        #expect(
            RecordSchema.schema(of: Self.event([], description: "Said once."), decimals: .strings).line == """
                {"description": "Said once.", "type": "object", "properties": {\
                "id": {"type": ["string"], "format": "uuid"}, "name": {"type": ["string"]}, \
                "time": {"type": ["string"], "format": "date-time"}, \
                "receivedAt": {"type": ["string"], "format": "date-time"}, "userId": {"type": ["null", "string"]}, \
                "anonymousId": {"type": ["null", "string"]}, "sessionId": {"type": ["null", "string"]}, \
                "context": {"type": ["null", "object"]}, \
                "payload": {"type": ["null", "object"], "properties": {}}}}
                """
        )
    }

    @Test("allows additional properties if the event does, because targets drop what a schema does not allow")
    func open() {
        var event = Self.event([])
        event.allowsAdditionalProperties = true
        #expect(
            RecordSchema.schema(of: event, decimals: .strings).line.hasSuffix(
                #""payload": {"type": ["null", "object"], "properties": {}, "additionalProperties": true}}}"#
            )
        )
    }

    @Test("has a type for each kind of property")
    func kinds() throws {
        let schemas: [PropertyType: String] = [
            .string: #"{"type": ["null", "string"]}"#,
            .integer: #"{"type": ["null", "integer"]}"#,
            .number: #"{"type": ["null", "number"]}"#,
            .decimal: #"{"type": ["null", "string"], "format": "x-singer.decimal"}"#,
            .boolean: #"{"type": ["null", "boolean"]}"#,
            .timestamp: #"{"type": ["null", "string"], "format": "date-time"}"#,
            .date: #"{"type": ["null", "string"], "format": "date"}"#,
            .uuid: #"{"type": ["null", "string"], "format": "uuid"}"#,
            .array: #"{"type": ["null", "array"]}"#,
            .object: #"{"type": ["null", "object"]}"#,
            .any: #"{"type": ["null", "boolean", "number", "string", "array", "object"]}"#,
        ]
        for type in PropertyType.allCases {
            let expected = try #require(schemas[type], "\(type)")
            #expect(try Self.schema(of: [Self.property("p", type)]) == #""p": \#(expected)"#)
        }
    }

    @Test("has decimals as multiples of a number, if that is wanted, also within arrays and objects")
    func numbers() throws {
        var items = Self.property("list", .array)
        items.items = Self.property("", .decimal)
        var object = Self.property("object", .object)
        object.properties = [items]
        #expect(
            try Self.schema(of: [object], .numbers) == """
                "object": {"type": ["null", "object"], "properties": {"list": {"type": ["null", "array"], \
                "items": {"type": ["null", "number"], "multipleOf": 0.000000001}}}}
                """
        )
    }

    @Test("has descriptions, and neither limits nor what the tracker does not get")
    func words() throws {
        var described = Self.property("a", .string)
        described.description = "A word."
        described.deprecated = "Say b."
        described.maxLength = 5
        described.pattern = "^a"
        described.sensitivity = .hash
        var dropped = Self.property("b", .string)
        dropped.sensitivity = .drop
        #expect(
            try Self.schema(of: [described, dropped])
                == #""a": {"description": "A word.\n\nDeprecated: Say b.", "deprecated": true, "type": ["null", "string"]}"#
        )
    }
}
