import EventModel
import EventValidation
package import NIOCore
package import TrackerKit

/// How events are written, one on a line.
///
/// The members of the configuration come before those of the canonical line, which is copied as it is:
///
/// ```json
/// {"@timestamp":"2026-11-28T09:30:00.000Z","@version":"1","service":"shop","id":"…","name":"Song Played",…}
/// ```
package struct EventLines: Sendable {
    /// A member whose value is a text.
    package typealias Field = (name: String, value: String)

    private let format: SocketConfiguration.Format
    /// What comes between the time and the canonical line's first member.
    private let constant: [UInt8]

    /// Takes the members of the configuration, whose names differ from each other and from `members(of:)`.
    package init(_ format: SocketConfiguration.Format, fields: [Field]) {
        self.format = format
        var constant: [UInt8] = []
        let version: [Field] = format == .logstash ? [("@version", "1")] : []
        for field in version + fields {
            constant += JSONString.canonical(field.name) + [UInt8(ascii: ":")] + JSONString.canonical(field.value)
            constant.append(UInt8(ascii: ","))
        }
        self.constant = constant
    }

    /// The members that a line has, or may have, without those of the configuration.
    package static func members(of format: SocketConfiguration.Format) -> [String] {
        let canonical = [
            "id", "name", "time", "receivedAt", "userId", "anonymousId", "sessionId", "context", "payload",
            "serverTime",
        ]
        return format == .logstash ? ["@timestamp", "@version"] + canonical : canonical
    }

    /// Appends an event and a line feed.
    package func append(_ event: TrackedEvent, to buffer: inout ByteBuffer) {
        buffer.writeStaticString("{")
        if format == .logstash {
            // Milliseconds, which every version of Logstash reads; `time` has the digits that the sender stated.
            let time = Timestamp(microseconds: event.time.microseconds, fractionDigits: 3)
            buffer.writeStaticString(#""@timestamp":""#)
            buffer.writeString(time.description)
            buffer.writeStaticString(#"","#)
        }
        buffer.writeBytes(constant)
        // A canonical line has members, the first of which is the id.
        buffer.writeBytes(event.batch.line(at: event.index).dropFirst())
        buffer.writeInteger(UInt8(ascii: "\n"))
    }
}
