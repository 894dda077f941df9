@_spi(CanonicalJSON) import EventModel
import EventValidation
import JSONTape

/// Events in the JSON format of CloudEvents 1.0, one or a batch.
///
/// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md.
struct CloudEventMessages: MessageFormat {
    private let mapping: IngestConfiguration.CloudEvents

    /// Creates the format of a body that is one event or, with `isBatch`, an array of events.
    init(_ mapping: IngestConfiguration.CloudEvents, isBatch: Bool) {
        self.mapping = mapping
        shape = isBatch ? .cloudEvents : .cloudEvent
    }

    let shape: MessageBodyShape
    private(set) var violations: [Violation] = []
    /// The violations of the faults that were found before, because a body may have many events with the same ones.
    private var known: [CloudEventFaults: [Violation]] = [:]
    var key: [UInt8]? { nil }

    mutating func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {}

    mutating func append(
        _ message: JSONStructure.Value,
        of structure: JSONStructure,
        to output: inout ByteBuilder
    ) -> Bool {
        var attributes = CloudEventAttributes(mapping)
        var payload: JSONStructure.Value?
        var payloads = 0
        let isObject = structure.forEachMember(of: message) { key, value in
            let bytes = structure.bytes(of: value)
            guard !bytes.equals("null") else { return }
            if key.equals("data") || key.equals("data_base64") {
                payload = value
                payloads += 1
            } else {
                attributes.note(key, bytes)
            }
        }
        guard isObject else { return false }
        violations = violations(of: attributes.faults)
        // The array of known violations is shared as long as nothing is added to it.
        if payloads > 1 { violations.append(Self.severalPayloads) }
        attributes.append(payload: payload.map(structure.bytes), to: &output)
        return true
    }
}

extension CloudEventMessages {
    private static let severalPayloads = Violation(
        code: .malformedJSON,
        path: "$.data",
        expected: "either 'data' or 'data_base64'",
        found: "both, or one of them twice"
    )

    private mutating func violations(of faults: CloudEventFaults) -> [Violation] {
        guard !faults.isEmpty else { return [] }
        if let known = known[faults] { return known }
        let violations = faults.violations
        known[faults] = violations
        return violations
    }
}

/// The context attributes of a CloudEvent, as JSON values, and the event that they make with its data.
struct CloudEventAttributes {
    private var version: UnsafeRawBufferPointer?
    private var type: UnsafeRawBufferPointer?
    private var source: UnsafeRawBufferPointer?
    private var id: UnsafeRawBufferPointer?
    private var time: UnsafeRawBufferPointer?
    private var subject: UnsafeRawBufferPointer?
    /// The attributes that no field of an event has room for.
    private var others: [(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)] = []

    private let mapping: IngestConfiguration.CloudEvents

    init(_ mapping: IngestConfiguration.CloudEvents) {
        self.mapping = mapping
    }

    /// Notes an attribute.
    mutating func note(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        switch key.count {
        case 2 where key.equals("id"): id = value
        case 4 where key.equals("type"): type = value
        case 4 where key.equals("time"): time = value
        case 6 where key.equals("source"):
            source = value
            others.append((key, value))
        case 7 where mapping.subjectIsUserID && key.equals("subject"): subject = value
        case 11 where key.equals("specversion"): version = value
        case 15 where key.equals("datacontenttype"): break
        default: others.append((key, value))
        }
    }

    /// What is wrong with the attributes that each event must have.
    ///
    /// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#required-attributes.
    var faults: CloudEventFaults {
        var faults = CloudEventFaults()
        for (place, value) in [version, type, source, id].enumerated() { faults.set(Self.fault(of: value), at: place) }
        if let version, faults[0] == .none { faults.isOtherVersion = !Self.isSupported(version) }
        return faults
    }

    /// Whether a string says version 1.0, with escapes or without.
    private static func isSupported(_ version: UnsafeRawBufferPointer) -> Bool {
        JSONText.contents(of: version).equals("1.0") || JSONText.text(of: version) == Array("1.0".utf8)
    }

    /// Whether a value is a string with characters.
    private static func fault(of value: UnsafeRawBufferPointer?) -> CloudEventFaults.Fault {
        guard let value else { return .missing }
        guard value.first == UInt8(ascii: "\"") else { return .otherType }
        return value.count > 2 ? .none : .empty
    }

    /// Appends the event in Sluice's format.
    func append(payload: UnsafeRawBufferPointer?, to output: inout ByteBuilder) {
        let start = output.count
        if let type { appendName(type, to: &output) }
        if let id { appendID(id, to: &output) }
        if let time { output.append(#","time":"#, time) }
        if let subject { output.appendIdentifier(#","userId":"#, subject) }
        if !others.isEmpty {
            output.append(#","context":"#)
            let contextStart = output.count
            for (key, value) in others {
                output.append(#",""#)
                output.append(key)
                output.append(#"":"#, value)
            }
            output.closeObject(from: contextStart)
        }
        if let payload { output.append(#","payload":"#, payload) }
        output.closeObject(from: start)
    }

    /// Appends the type without the prefix that the server's settings name.
    private func appendName(_ type: UnsafeRawBufferPointer, to output: inout ByteBuilder) {
        let prefix = mapping.typePrefix.utf8
        guard !prefix.isEmpty, type.dropFirst().starts(with: prefix) else { return output.append(#","name":"#, type) }
        output.append(#","name":""#, UnsafeRawBufferPointer(rebasing: type.dropFirst(1 + prefix.count)))
    }

    /// Appends the id, which is unique only together with the source.
    private func appendID(_ id: UnsafeRawBufferPointer, to output: inout ByteBuilder) {
        guard let source, source.first == UInt8(ascii: "\""), id.first == UInt8(ascii: "\"") else {
            return output.append(#","id":"#, id)
        }
        // A source is a URI, which contains no space.
        let name =
            JSONString.resolvingEscapes(in: JSONText.contents(of: source)) + [UInt8(ascii: " ")]
            + JSONString.resolvingEscapes(in: JSONText.contents(of: id))
        output.append(#","id":"#)
        output.appendQuoted(EventID(messageID: name))
    }
}
