import EventModel
import EventValidation
package import TrackerKit

/// The body of a request with events.
package struct RequestBody: Sendable {
    /// What surrounds the lines of the events.
    package enum Form: Sendable {
        /// A line feed after each.
        case lines
        /// A line feed after each, and no `receivedAt`, which the receiver adds: what another Sluice accepts.
        case linesToSluice
        /// A JSON array.
        case array
        /// A JSON array of CloudEvents from this source.
        case cloudEvents(source: String)
        /// Nothing: there is only one event.
        case single

        /// The `Content-Type` of the body.
        var contentType: String {
            switch self {
            case .lines, .linesToSluice: "application/x-ndjson"
            case .array, .single: "application/json"
            case .cloudEvents: "application/cloudevents-batch+json"
            }
        }
    }

    /// The bytes, uncompressed.
    package let bytes: [UInt8]

    /// Writes the events; a single one if the form has no other.
    package init(_ delivery: Delivery, as form: Form) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(delivery.byteCount + delivery.count * Self.overhead(of: form) + 2)
        let isArray: Bool = if case .array = form { true } else if case .cloudEvents = form { true } else { false }
        if isArray { bytes.append(UInt8(ascii: "[")) }
        for (position, event) in delivery.enumerated() {
            if isArray, position > 0 { bytes.append(UInt8(ascii: ",")) }
            Self.append(event.batch.line(at: event.index), as: form, to: &bytes)
        }
        if isArray { bytes.append(UInt8(ascii: "]")) }
        self.bytes = bytes
    }

    private static func append(_ line: UnsafeRawBufferPointer, as form: Form, to bytes: inout [UInt8]) {
        switch form {
        case .lines:
            bytes.append(contentsOf: line)
            bytes.append(UInt8(ascii: "\n"))
        case .linesToSluice:
            appendWithoutArrival(line, to: &bytes)
            bytes.append(UInt8(ascii: "\n"))
        case .array, .single:
            bytes.append(contentsOf: line)
        case .cloudEvents(let source):
            appendCloudEvent(line, source: source, to: &bytes)
        }
    }

    /// Appends a line without its `receivedAt`, which the receiver does not accept.
    private static func appendWithoutArrival(_ line: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        guard let parts = CanonicalLine(line) else { return bytes.append(contentsOf: line) }
        // The time and its quotation mark come before, the time of arrival and its own follow.
        bytes.append(contentsOf: line[...parts.time.upperBound])
        bytes.append(contentsOf: line[(parts.receivedAt.upperBound + 1)...])
    }

    private static func appendCloudEvent(_ line: UnsafeRawBufferPointer, source: String, to bytes: inout [UInt8]) {
        guard let parts = CanonicalLine(line) else { return bytes.append(contentsOf: line) }
        bytes.append(contentsOf: #"{"specversion":"1.0","id":""#.utf8)
        bytes.append(contentsOf: parts.rawText(of: parts.id))
        bytes.append(contentsOf: #"","source":"#.utf8)
        bytes.append(contentsOf: JSONString.canonical(source))
        bytes.append(contentsOf: #","type":""#.utf8)
        bytes.append(contentsOf: parts.rawText(of: parts.name))
        bytes.append(contentsOf: #"","time":""#.utf8)
        bytes.append(contentsOf: parts.rawText(of: parts.time))
        bytes.append(contentsOf: #"","datacontenttype":"application/json","data":"#.utf8)
        bytes.append(contentsOf: line)
        bytes.append(UInt8(ascii: "}"))
    }

    /// About how many bytes a form adds to an event.
    private static func overhead(of form: Form) -> Int {
        if case .cloudEvents(let source) = form { 200 + source.utf8.count } else { 1 }
    }
}
