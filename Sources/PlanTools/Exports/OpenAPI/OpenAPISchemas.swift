import EventSchema
import PortDefinitions

/// The schemas of bodies and answers.
enum OpenAPISchemas {
    typealias Members = OrderedJSON.Members

    /// The codes of rejected events.
    private static let verdictCodes = RejectionCode.allCases.map(\.rawValue)

    static func all(of plan: TrackingPlan, _ limits: OpenAPIExport.Limits) -> Members {
        bodies(of: plan) + answers(limits) + EventSchemas.all(of: plan)
    }

    // MARK: Bodies

    private static func bodies(of plan: TrackingPlan) -> Members {
        [
            ("Event", EventSchemas.anyEvent(of: plan)),
            ("Events", ["anyOf": [.schema("Event"), ["type": "array", "items": .schema("Event")]]]),
            ("CloudEvent", cloudEvent), ("SegmentMessage", segmentMessage),
            ("SegmentBatch", batch(of: "SegmentMessage")),
            ("SegmentMessages", messages(of: "SegmentMessage", batch: "SegmentBatch")),
            ("PostHogEvent", postHogEvent), ("PostHogBatch", batch(of: "PostHogEvent")),
            ("PostHogEvents", messages(of: "PostHogEvent", batch: "PostHogBatch")),
            (
                "PostHogForm",
                [
                    "type": "object", "properties": ["data": ["type": "string", "contentEncoding": "base64"]],
                    "required": ["data"],
                ]
            ),
        ]
    }

    private static let cloudEvent: OrderedJSON = [
        "type": "object", "description": "An event of CloudEvents 1.0, whose `data` is the payload.",
        "properties": [
            "specversion": ["const": "1.0"], "id": ["type": "string", "minLength": 1],
            "source": ["type": "string", "minLength": 1],
            "type": ["type": "string", "minLength": 1, "description": "The event's name."],
            "time": ["type": "string", "format": "date-time"], "subject": ["type": "string"],
            "datacontenttype": ["type": "string"], "dataschema": ["type": "string"], "data": ["type": "object"],
        ],
        "required": ["specversion", "id", "source", "type"],
    ]

    private static let segmentMessage: OrderedJSON = [
        "type": "object", "description": "A message of Segment's HTTP Tracking API.",
        "properties": [
            "type": ["type": "string", "enum": ["track", "identify", "page", "screen", "group", "alias"]],
            "event": ["type": "string", "description": "The event's name, in a message of the type `track`."],
            "messageId": ["type": "string", "description": "Identifies the message across repeats."],
            "userId": ["type": "string"], "anonymousId": ["type": "string"], "timestamp": ["type": "string"],
            "properties": ["type": "object"], "traits": ["type": "object"], "context": ["type": "object"],
            "writeKey": ["type": "string", "description": "The write key, if no header states it."],
        ],
    ]

    private static let postHogEvent: OrderedJSON = [
        "type": "object", "description": "An event of PostHog's capture API.",
        "properties": [
            "event": ["type": "string", "description": "The event's name."],
            "uuid": ["type": "string", "description": "Identifies the event across repeats."],
            "distinct_id": ["type": "string"], "timestamp": ["type": "string"], "properties": ["type": "object"],
            "offset": [
                "type": "number", "minimum": 0,
                "description": "The age of the event in milliseconds, if it has no timestamp.",
            ],
            "api_key": ["type": "string", "description": "The write key, if no header states it."],
        ],
    ]

    private static func batch(of message: String) -> OrderedJSON {
        [
            "type": "object", "properties": ["batch": ["type": "array", "items": .schema(message)]],
            "required": ["batch"],
        ]
    }

    private static func messages(of message: String, batch: String) -> OrderedJSON {
        ["anyOf": [.schema(message), ["type": "array", "items": .schema(message)], .schema(batch)]]
    }

    // MARK: Answers

    private static func answers(_ limits: OpenAPIExport.Limits) -> Members {
        [
            ("Health", .closedObject([("status", ["const": "ok"])])), ("Problem", problem), ("Rejection", rejection),
            ("Verdicts", verdicts([], limits)), ("CloudEventRefusal", refusal(.cloudEvents, limits)),
            ("SegmentRefusal", refusal(.segment, limits)), ("PostHogRefusal", refusal(.posthog, limits)),
            ("SegmentVerdicts", verdicts([("success", ["const": true])], limits)),
            ("PostHogVerdicts", verdicts([("status", ["const": 1])], limits)), ("PostHogResults", postHogResults),
        ]
    }

    private static let problem: OrderedJSON = [
        "type": "object",
        "properties": [
            "code": ["type": "string", "enum": .strings(verdictCodes)],
            "path": ["type": "string", "description": "Where in the event, as a JSONPath (RFC 9535)."],
            "expected": ["type": "string", "description": "What the plan asks for."],
            "found": ["type": "string", "description": "What kind of value was found; never the value itself."],
            "plan": ["type": "string", "description": "The place in the plan, if a definition is concerned."],
        ],
        "required": ["code", "path", "expected", "found"], "additionalProperties": false,
    ]

    private static let rejection: OrderedJSON = .closedObject([
        ("index", ["type": "integer", "minimum": 0, "description": "The place of the event in the body, from 0."]),
        ("id", ["type": ["string", "null"], "description": "The id of the event, if it has a valid one."]),
        ("errors", ["type": "array", "items": .schema("Problem"), "minItems": 1, "maxItems": 10]),
    ])

    /// The answer of a dialect to a strict request with rejected events.
    private static func refusal(_ form: FailureForm, _ limits: OpenAPIExport.Limits) -> OrderedJSON {
        verdicts(form.members(["rejected-events"]), limits)
    }

    /// The verdicts of a body, beside other members.
    private static func verdicts(_ members: Members, _ limits: OpenAPIExport.Limits) -> OrderedJSON {
        let count: OrderedJSON = ["type": "integer", "minimum": 1]
        let rejected: OrderedJSON = [
            "type": "array", "items": .schema("Rejection"), "maxItems": .integer(limits.explainedRejections),
            "description": .string(
                "The first rejected events, as many as fit into an answer of \(limits.answerBytes) bytes."
            ),
        ]
        let indexes: OrderedJSON = [
            "type": "array",
            "description": "The indexes of the first rejected events, as the first and the last of each range.",
            "items": ["type": "array", "items": ["type": "integer", "minimum": 0], "minItems": 2, "maxItems": 2],
        ]
        let codes: OrderedJSON = [
            "type": "object", "description": "How many events were rejected, by their first code.",
            "properties": .object(verdictCodes.map { ($0, count) }), "additionalProperties": false,
        ]
        let always = members + [("accepted", ["type": "integer", "minimum": 0]), ("rejected", rejected)]
        return [
            "type": "object",
            "properties": .object(
                always + [("rejectedCount", count), ("rejectedIndexes", indexes), ("rejectedCodes", codes)]
            ),
            "required": .strings(always.map(\.key)), "additionalProperties": false,
        ]
    }

    private static let postHogResults: OrderedJSON = .closedObject([
        ("accepted", ["type": "integer", "minimum": 0]),
        (
            "results",
            [
                "type": "object", "description": "The rejected events, by their `uuid` as it was sent.",
                "additionalProperties": [
                    "type": "object",
                    "properties": [
                        "result": ["const": "drop"], "details": ["type": "string", "enum": .strings(verdictCodes)],
                    ],
                    "required": ["result"], "additionalProperties": false,
                ],
            ]
        ),
    ])
}

/// The plan's events as components of an OpenAPI document.
private enum EventSchemas {
    /// A schema for each event, and those of the plan's types.
    static func all(of plan: TrackingPlan) -> OrderedJSON.Members {
        let events = plan.events.map { event -> (key: String, value: OrderedJSON) in
            let schema = OrderedJSON.object(JSONSchemaExport.body(of: event)).relocated
            return (key: name(of: event), value: schema.with("examples", [ExampleEvent(of: event).json]))
        }
        return events + SharedSchemas.all.map { ($0.key, $0.value.relocated) }
    }

    /// Any event, told apart by its name.
    static func anyEvent(of plan: TrackingPlan) -> OrderedJSON {
        guard !plan.events.isEmpty else { return ["not": .object([])] }
        let mapping = plan.events.map { (key: $0.name, value: OrderedJSON.string(reference(to: $0))) }
        return [
            "oneOf": .array(plan.events.map { ["$ref": .string(reference(to: $0))] }),
            "discriminator": ["propertyName": "name", "mapping": .object(mapping)],
        ]
    }

    private static func reference(to event: EventDefinition) -> String { "#/components/schemas/" + name(of: event) }

    /// A name of the characters that a component may have: others are their code points, in hexadecimal, between dots.
    private static func name(of event: EventDefinition) -> String {
        event.anchor.unicodeScalars.reduce(into: "event_") { name, scalar in
            let isPlain =
                scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_"
            name += isPlain ? String(scalar) : ".\(String(scalar.value, radix: 16))."
        }
    }
}

extension OrderedJSON {
    /// The schema with references to components in the place of those to its own definitions.
    fileprivate var relocated: OrderedJSON {
        switch self {
        case .object(let members):
            .object(
                members.map { key, value in
                    guard key == "$ref", case .string(let target) = value, target.hasPrefix(Self.definitions) else {
                        return (key, value.relocated)
                    }
                    return (key, .string("#/components/schemas/" + target.dropFirst(Self.definitions.count)))
                }
            )
        case .array(let elements): .array(elements.map(\.relocated))
        case .null, .boolean, .number, .string: self
        }
    }

    /// The object with another member.
    fileprivate func with(_ key: String, _ value: OrderedJSON) -> OrderedJSON {
        guard case .object(let members) = self else { return self }
        return .object(members + [(key, value)])
    }

    private static let definitions = "#/$defs/"
}
