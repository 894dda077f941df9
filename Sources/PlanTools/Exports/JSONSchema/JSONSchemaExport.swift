package import EventSchema

/// The tracking plan as JSON Schema (draft 2020-12), so that senders can validate events before they send them.
///
/// There is a file for each event and one for all events; each file is self-contained. The schemas describe an event as
/// `POST /v1/events` accepts it. They agree with the validator, with these exceptions:
///
/// - The schema does not check duplicate keys, nesting deeper than 64 levels, events larger than 1 MiB, integers beyond 64
///   bits in untyped values, the limits of a decimal in a string, the allowed values of a timestamp, and patterns that only
///   RE2 supports. It accepts such events, and a `$comment` lists them.
/// - Numbers with more digits than the number type of a JSON Schema implementation may be rounded by it.
/// - The schema checks the limits of a `hash` property also for a value that was hashed before, which the validator accepts.
/// - The schema rejects a decimal in a string with an exponent beyond 64, or with any exponent if the plan lists allowed
///   values; the validator may accept it.
package struct JSONSchemaExport: Sendable {
    /// The path of the schema of all events.
    package static let envelopePath = "envelope.schema.json"

    private let plan: TrackingPlan
    private let base: SchemaBase

    /// Prepares the export of a valid plan, with the base URI of the `$id`s.
    package init(_ plan: TrackingPlan, base: SchemaBase = .default) {
        self.plan = plan
        self.base = base
    }

    /// All files: the schema of all events, then one for each event, in the plan's order.
    package var files: [ExportedFile] {
        [envelope] + plan.events.map(file)
    }

    /// The schema of any event of the plan.
    package var envelope: ExportedFile {
        let version = plan.version.map { " \($0)" } ?? ""
        var fields = EnvelopeSchema.head(
            id: base.id(of: Self.envelopePath),
            title: "Any event of the tracking plan\(version)",
            comment: EnvelopeSchema.unsaid
        )
        let name: OrderedJSON = .object([
            ("description", .string("The event's name.")), ("enum", .strings(plan.events.map(\.name))),
        ])
        fields += EnvelopeSchema.body(
            name: name,
            payload: .object([("type", .string("object"))]),
            requiresPayload: false
        )
        // Selected by name, so that errors come only from the schema of the event that is named.
        if !plan.events.isEmpty { fields.append(("allOf", .array(plan.events.map(Self.choice)))) }
        let payloads = plan.events.map { (key: Self.payloadKey(of: $0), value: PropertySchema.payload(of: $0)) }
        fields.append(("$defs", .object(SharedSchemas.all + payloads)))
        return ExportedFile(path: Self.envelopePath, text: OrderedJSON.object(fields).lines + "\n")
    }

    private func file(for event: EventDefinition) -> ExportedFile {
        let path = "events/\(event.anchor).schema.json"
        var fields = EnvelopeSchema.head(
            id: base.id(of: path),
            title: event.name,
            comment: Self.comment(on: event)
        )
        fields += Self.body(of: event)
        fields.append(("$defs", .object(SharedSchemas.all)))
        return ExportedFile(path: path, text: OrderedJSON.object(fields).lines + "\n")
    }

    /// What the schema of an event says about it, with references to `SharedSchemas`.
    static func body(of event: EventDefinition) -> [(key: String, value: OrderedJSON)] {
        OrderedJSON.annotations(event.description, deprecated: event.deprecated)
            + EnvelopeSchema.body(
                name: .object([("const", .string(event.name))]),
                payload: PropertySchema.payload(of: event),
                requiresPayload: event.requiresPayload
            )
    }

    private static func comment(on event: EventDefinition) -> String {
        let owner = event.owner.map { "Owner: \($0). " } ?? ""
        return owner + "Trackers: \(event.trackers.joined(separator: ", ")). \(EnvelopeSchema.unsaid)"
    }

    private static func choice(of event: EventDefinition) -> OrderedJSON {
        let isMeant: OrderedJSON = .object([
            ("properties", .object([("name", .object([("const", .string(event.name))]))])),
            ("required", .strings(["name"])),
        ])
        let reference = "#/$defs/" + SchemaBase.percentEncoded(payloadKey(of: event))
        var consequence: [(key: String, value: OrderedJSON)] = [
            ("properties", .object([("payload", .object([("$ref", .string(reference))]))]))
        ]
        if event.requiresPayload { consequence.append(("required", .strings(["payload"]))) }
        return .object([("if", isMeant), ("then", .object(consequence))])
    }

    private static func payloadKey(of event: EventDefinition) -> String { "payload_\(event.anchor)" }
}

extension EventDefinition {
    /// Whether the event requires a payload.
    fileprivate var requiresPayload: Bool { properties.contains(where: \.mustBePresent) }
}
