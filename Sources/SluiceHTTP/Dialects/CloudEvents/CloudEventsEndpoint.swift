@_spi(CanonicalJSON) import EventModel
import EventValidation
import JSONTape

/// CloudEvents 1.0 over HTTP, at the same path as Sluice's own format.
///
/// Source: https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md.
struct CloudEventsEndpoint: Dialect {
    var label: HTTPMetrics.DialectLabel { .cloudevents }

    /// The content modes of the HTTP binding.
    enum Mode {
        /// The body is one event.
        case structured
        /// The body is an array of events.
        case batched
        /// The body is the data of an event, and these are its attributes.
        case binary([CloudEventHeader])
    }

    let mode: Mode
    let mapping: IngestConfiguration.CloudEvents

    func translation(of arrival: BodyArrival) -> any BodyTranslation {
        switch mode {
        case .structured: MessageBody(CloudEventMessages(mapping, isBatch: false))
        case .batched: MessageBody(CloudEventMessages(mapping, isBatch: true))
        case .binary(let attributes): BinaryCloudEvent(attributes, mapping)
        }
    }

    var allRejectedStatus: StaticString { "422 Unprocessable Content" }

    func answer(to body: CheckedBody, statedIDs ids: [String?], within maximumBytes: Int) -> [UInt8] {
        VerdictEncoder.verdicts(of: body, within: maximumBytes)
    }

    func answer(to failure: Failure) -> [UInt8] {
        Array("{".utf8) + AnswerEncoder.members(of: failure) + Array("}".utf8)
    }
}

/// A CloudEvent whose attributes are header fields, and whose data is the body.
final class BinaryCloudEvent: BodyTranslation {
    private let headers: [CloudEventHeader]
    private let mapping: IngestConfiguration.CloudEvents
    private var output = ByteBuilder(capacity: 0)
    private(set) var refusals: [Int: [Violation]] = [:]
    let statedIDs: [String?] = []

    init(_ headers: [CloudEventHeader], _ mapping: IngestConfiguration.CloudEvents) {
        self.headers = headers
        self.mapping = mapping
    }

    var key: [UInt8]? { nil }

    func conceal(_ key: [UInt8]) {}

    var text: UnsafeRawBufferPointer { output.bytes }

    var byteCount: Int { output.reservedBytes }

    func advance(_ body: UnsafeRawBufferPointer, with tools: TranslationTools, within bytes: inout Int) throws -> Bool {
        guard body.count <= EventValidator.maximumEventBytes else {
            // The check rejects it without reading it.
            output.append(body)
            output.endLine(from: 0)
            return true
        }
        bytes -= body.count
        let fields = CloudEventHeader.distinct(headers)
        refusals[0] = fields.violations.isEmpty ? nil : fields.violations
        tools.withStructure(of: body) { structure in
            if let structure, let root = structure.root {
                append(fields.valid[...], CloudEventAttributes(mapping), structure.bytes(of: root))
            } else if body.allSatisfy(JSONElements.isSpace) {
                append(fields.valid[...], CloudEventAttributes(mapping), nil)
            } else {
                // The check says what is wrong with it, and must not take it for an event of Sluice's own format.
                refusals[0] = fields.violations + [Self.malformedData]
                output.append(body)
            }
        }
        output.endLine(from: 0)
        return true
    }

    private static var malformedData: Violation {
        Violation(code: .malformedJSON, path: "$", expected: "JSON (RFC 8259)", found: "something else")
    }

    /// Notes one header after another, so that the memory of all is valid when the event is appended.
    private func append(
        _ rest: ArraySlice<CloudEventHeader>,
        _ attributes: CloudEventAttributes,
        _ data: UnsafeRawBufferPointer?
    ) {
        guard let header = rest.first else {
            let known = refusals[0] ?? []
            // An attribute whose header field is invalid is not missing.
            let faults = attributes.faults.violations.filter { fault in !known.contains { $0.path == fault.path } }
            if !faults.isEmpty { refusals[0] = known + faults }
            return attributes.append(payload: data, to: &output)
        }
        header.name.withUnsafeBytes { name in
            (header.value ?? []).withUnsafeBytes { value in
                var attributes = attributes
                attributes.note(name, value)
                append(rest.dropFirst(), attributes, data)
            }
        }
    }
}
