internal import EventModel
import EventSchema

/// The parts that the schemas of all events have in common: the envelope around the payload.
enum EnvelopeSchema {
    typealias Members = [(key: String, value: OrderedJSON)]

    /// Describes the rules of the validator that no schema can express.
    static let unsaid = """
        Sluice also rejects duplicate keys in an object, more than 64 levels of nesting, events over 1 MiB, and, where the plan \
        describes no type, numbers of more than 1,000 digits without their exponent.
        """

    static func head(id: String, title: String, comment: String) -> Members {
        [
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")), ("$id", .string(id)),
            ("$comment", .string(comment)), ("title", .string(title)),
        ]
    }

    /// The fields that the HTTP endpoint accepts.
    static func body(name: OrderedJSON, payload: OrderedJSON, requiresPayload: Bool) -> Members {
        let fields: Members = [
            ("name", name),
            ("id", field("Identifies the event across repeats; if absent, Sluice assigns a UUIDv7.", "uuid")),
            ("time", field("When it happened; the time of arrival if absent.", "timestamp")),
            ("serverTime", serverTime),
            ("userId", identifier("The user, if known")),
            ("anonymousId", identifier("The device or browser, if known")),
            ("sessionId", identifier("The session, if known")),
            ("context", context), ("payload", payload),
        ]
        return [
            ("type", .string("object")), ("properties", .object(fields)),
            ("required", .strings(requiresPayload ? ["name", "payload"] : ["name"])),
            ("additionalProperties", .boolean(false)),
        ]
    }

    private static func field(_ description: String, _ shared: String) -> OrderedJSON {
        .object([
            ("description", .string(description)), ("type", .string("string")), SharedSchemas.reference(to: shared),
        ])
    }

    /// A text that identifies somebody or something.
    ///
    /// A schema counts characters, and Sluice the bytes of their UTF-8.
    private static func identifier(_ description: String) -> OrderedJSON {
        .object([
            ("description", .string("\(description); \(IdentifierLimit.expected) of UTF-8.")),
            ("type", .string("string")),
            ("maxLength", .integer(IdentifierLimit.maximumBytes)), SharedSchemas.reference(to: "text"),
        ])
    }

    private static let serverTime: OrderedJSON = .object([
        (
            "description",
            .string("Whether another attempt to send the event could state another time; a server sets it.")
        ),
        ("type", .string("boolean")),
    ])

    private static let context: OrderedJSON = .object([
        ("description", .string("Where and how it happened.")), ("type", .string("object")),
        SharedSchemas.reference(to: "value"),
    ])
}
