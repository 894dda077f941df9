package import EventModel
import EventSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a rejected event is written down: one JSON object on one line.
///
/// ```json
/// {"quarantine":{"at":…,"source":…,"stage":…,"planVersion":…,"name":…,"errors":[…]},"event":{…}}
/// ```
///
/// `planVersion` stands where the plan has one, and `name` where the plan knows the event. `event` is the original, byte
/// for byte. Where that has line breaks, or may be no JSON, it is a string `eventText`, and where it is not even UTF-8,
/// `eventBase64`.
package enum QuarantineLine {
    /// Writes down an event that did not follow the plan.
    package static func append(
        _ rejection: Rejection,
        source: String,
        planVersion: String?,
        at time: Timestamp,
        to bytes: inout [UInt8]
    ) {
        bytes.reserveCapacity(bytes.count + rejection.original.count + 512)
        let head = Head(source: source, stage: "check", planVersion: planVersion, name: rejection.name)
        append(head, at: time, to: &bytes)
        ViolationEncoding.appendJSON(of: rejection.violations, to: &bytes)
        bytes.append(contentsOf: "},".utf8)
        if rejection.violations.contains(where: mayBeNoJSON) || isText(rejection.original) {
            appendText(rejection.original, to: &bytes)
        } else {
            bytes.append(contentsOf: #""event":"#.utf8)
            bytes.append(contentsOf: rejection.original)
        }
        bytes.append(contentsOf: "}\n".utf8)
    }

    /// Writes down an event that a tracker refused.
    package static func append(
        _ event: TrackedEvent,
        refusedBy tracker: String,
        reason: String,
        at time: Timestamp,
        to bytes: inout [UInt8]
    ) {
        let head = Head(
            source: "tracker:\(tracker)",
            stage: "delivery",
            planVersion: event.batch.catalog.plan.version,
            name: event.name
        )
        append(head, at: time, to: &bytes)
        bytes.append(
            contentsOf: #"[{"code":"refused","path":"$","expected":"an event the tracker takes","found":"#.utf8
        )
        ViolationEncoding.appendString(reason, to: &bytes)
        bytes.append(contentsOf: #"}]},"event":"#.utf8)
        bytes.append(contentsOf: event.batch.line(at: event.index))
        bytes.append(contentsOf: "}\n".utf8)
    }

    private struct Head {
        let source: String
        let stage: String
        let planVersion: String?
        let name: String?
    }

    private static func append(_ head: Head, at time: Timestamp, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"quarantine":{"at":"#.utf8)
        ViolationEncoding.appendString(time.description, to: &bytes)
        bytes.append(contentsOf: #","source":"#.utf8)
        ViolationEncoding.appendString(head.source, to: &bytes)
        bytes.append(contentsOf: #","stage":"\#(head.stage)""#.utf8)
        if let version = head.planVersion {
            bytes.append(contentsOf: #","planVersion":"#.utf8)
            ViolationEncoding.appendString(version, to: &bytes)
        }
        if let name = head.name {
            bytes.append(contentsOf: #","name":"#.utf8)
            ViolationEncoding.appendString(name, to: &bytes)
        }
        bytes.append(contentsOf: #","errors":"#.utf8)
    }

    /// Whether the original cannot stand as it is on a line of its own.
    private static func isText(_ original: [UInt8]) -> Bool {
        original.isEmpty || original.contains(UInt8(ascii: "\n")) || original.contains(UInt8(ascii: "\r"))
    }

    /// Whether an event with this verdict was perhaps not read to its end, so that nobody knows whether it is JSON.
    private static func mayBeNoJSON(_ violation: Violation) -> Bool {
        switch violation.code {
        case .malformedJSON, .tooLarge, .tooDeep: true
        // JSON it is, but with a number that no parser of ours reads back.
        case .outOfRange: violation.path == "$"
        default: false
        }
    }

    private static func appendText(_ original: [UInt8], to bytes: inout [UInt8]) {
        if String(validating: original, as: UTF8.self) != nil {
            bytes.append(contentsOf: #""eventText":"#.utf8)
            ViolationEncoding.appendString(utf8: original, to: &bytes)
        } else {
            bytes.append(contentsOf: #""eventBase64":""#.utf8)
            bytes.append(contentsOf: Data(original).base64EncodedString().utf8)
            bytes.append(UInt8(ascii: "\""))
        }
    }
}
