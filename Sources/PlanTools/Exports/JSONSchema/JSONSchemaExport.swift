package import EventSchema

/// The tracking plan as JSON Schema (draft 2020-12): for whoever wants to know, before an event is sent, that it is
/// good.
///
/// There is a file for each event and one for all of them; each holds everything that it refers to. They describe an
/// event as `POST /v1/events` takes it, and say what the check at the door says, but for what no schema can:
///
/// - a key that comes twice, nesting beyond 64 levels, an event over 1 MiB, whole numbers beyond 64 bits in free values,
///   the limits of a decimal in a string, the allowed moments of a timestamp, patterns for which only RE2 has words: the
///   schema takes them, and a `$comment` says so;
/// - numbers of more digits than a reader's own type holds, which are that reader's affair;
/// - a decimal in a string with an exponent beyond 64, or with one beside allowed values, which the check may take.
package struct JSONSchemaExport: Sendable {
    /// The path of the schema of all events.
    package static let envelopePath = "envelope.schema.json"

    private let plan: TrackingPlan
    private let base: SchemaBase

    /// Takes a plan as the reader lets it pass, and what the `$id`s begin with.
    package init(_ plan: TrackingPlan, base: SchemaBase = .default) {
        self.plan = plan
        self.base = base
    }

    /// All files: that of the envelope, then one for each event, in the plan's order.
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
        // By name, so that what is wrong is said by the one event that was meant.
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
        fields += PropertySchema.words(event.description, deprecated: event.deprecated)
        fields += EnvelopeSchema.body(
            name: .object([("const", .string(event.name))]),
            payload: PropertySchema.payload(of: event),
            requiresPayload: event.requiresPayload
        )
        fields.append(("$defs", .object(SharedSchemas.all)))
        return ExportedFile(path: path, text: OrderedJSON.object(fields).lines + "\n")
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
    /// Whether an event without a payload breaks a rule.
    fileprivate var requiresPayload: Bool { properties.contains(where: \.isRequired) }
}
