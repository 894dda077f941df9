import EventModel
import EventValidation
import NIOCore
import TrackerKit

/// The body of a request with events.
struct RequestBody: Sendable {
    /// What surrounds the lines of the events.
    enum Form: Sendable {
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
    let bytes: ByteBuffer

    /// Writes the events; a single one if the form has no other.
    ///
    /// The bytes take the memory of `spare`, if it is large enough and not in use.
    init(_ delivery: Delivery, as form: Form, reusing spare: consuming ByteBuffer) {
        let size = delivery.byteCount + delivery.count * Self.overhead(of: form) + 2
        var bytes = consume spare
        // Growing the memory would copy what is in it.
        if bytes.capacity < size { bytes = ByteBuffer() }
        bytes.clear(minimumCapacity: size)
        if case .lines = form {
            for slice in delivery.slices { Self.append(slice, to: &bytes) }
        } else {
            Self.append(delivery, as: form, to: &bytes)
        }
        self.bytes = bytes
    }

    /// Appends lines, each with its newline.
    private static func append(_ slice: EventSlice, to bytes: inout ByteBuffer) {
        if let lines = slice.adjacentLines {
            bytes.writeBytes(lines)
        } else {
            for position in 0..<slice.count {
                append(slice.batch.line(at: slice.batchIndex(at: position)), as: .lines, to: &bytes)
            }
        }
    }

    private static func append(_ delivery: Delivery, as form: Form, to bytes: inout ByteBuffer) {
        let isArray: Bool = if case .array = form { true } else if case .cloudEvents = form { true } else { false }
        if isArray { bytes.writeInteger(UInt8(ascii: "[")) }
        for (position, event) in delivery.enumerated() {
            if isArray, position > 0 { bytes.writeInteger(UInt8(ascii: ",")) }
            append(event.batch.line(at: event.index), as: form, to: &bytes)
        }
        if isArray { bytes.writeInteger(UInt8(ascii: "]")) }
    }

    private static func append(_ line: UnsafeRawBufferPointer, as form: Form, to bytes: inout ByteBuffer) {
        switch form {
        case .lines:
            bytes.writeBytes(line)
            bytes.writeInteger(UInt8(ascii: "\n"))
        case .linesToSluice:
            appendWithoutArrival(line, to: &bytes)
            bytes.writeInteger(UInt8(ascii: "\n"))
        case .array, .single:
            bytes.writeBytes(line)
        case .cloudEvents(let source):
            appendCloudEvent(line, source: source, to: &bytes)
        }
    }

    /// Appends a line without its `receivedAt`, which the receiver does not accept.
    private static func appendWithoutArrival(_ line: UnsafeRawBufferPointer, to bytes: inout ByteBuffer) {
        guard let parts = CanonicalLine(line) else {
            bytes.writeBytes(line)
            return
        }
        // The time and its quotation mark come before, the time of arrival and its own follow.
        bytes.writeBytes(UnsafeRawBufferPointer(rebasing: line[...parts.time.upperBound]))
        bytes.writeBytes(UnsafeRawBufferPointer(rebasing: line[(parts.receivedAt.upperBound + 1)...]))
    }

    private static func appendCloudEvent(_ line: UnsafeRawBufferPointer, source: String, to bytes: inout ByteBuffer) {
        guard let parts = CanonicalLine(line) else {
            bytes.writeBytes(line)
            return
        }
        bytes.writeString(#"{"specversion":"1.0","id":""#)
        bytes.writeBytes(parts.rawText(of: parts.id))
        bytes.writeString(#"","source":"#)
        bytes.writeBytes(JSONString.canonical(source))
        bytes.writeString(#","type":""#)
        bytes.writeBytes(parts.rawText(of: parts.name))
        bytes.writeString(#"","time":""#)
        bytes.writeBytes(parts.rawText(of: parts.time))
        bytes.writeString(#"","datacontenttype":"application/json","data":"#)
        bytes.writeBytes(line)
        bytes.writeInteger(UInt8(ascii: "}"))
    }

    /// About how many bytes a form adds to an event.
    private static func overhead(of form: Form) -> Int {
        if case .cloudEvents(let source) = form { 200 + source.utf8.count } else { 1 }
    }
}
