package import EventModel

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a rejected event is written down: one JSON object on one line.
///
///     {"quarantine":{"at":…,"source":…,"stage":…,"errors":[…]},"event":{…}}
///
/// `event` is the original, with newlines between its tokens turned to spaces. Where the original may be no JSON, it is
/// a string `eventText`, and where it is not even UTF-8, `eventBase64`.
package enum QuarantineLine {
    /// Writes down an event that did not follow the plan.
    package static func line(for rejection: Rejection, source: String, at time: Timestamp) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rejection.original.count + 512)
        appendHead(at: time, source: source, stage: "check", to: &bytes)
        ViolationEncoding.appendJSON(of: rejection.violations, to: &bytes)
        bytes.append(contentsOf: "},".utf8)
        if rejection.violations.contains(where: { mayBeNoJSON($0) }) || rejection.original.isEmpty {
            appendText(rejection.original, to: &bytes)
        } else {
            bytes.append(contentsOf: #""event":"#.utf8)
            // Inside a JSON string these two are always escaped, so here they stand between tokens.
            bytes.append(
                contentsOf: rejection.original.lazy.map {
                    $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0
                }
            )
        }
        bytes.append(contentsOf: "}\n".utf8)
        return bytes
    }

    /// Writes down an event that a tracker refused.
    package static func line(for event: TrackedEvent, refusedBy tracker: String, reason: String, at time: Timestamp)
        -> [UInt8]
    {
        var bytes: [UInt8] = []
        appendHead(at: time, source: "tracker:\(tracker)", stage: "delivery", to: &bytes)
        bytes.append(
            contentsOf: #"[{"code":"refused","path":"$","expected":"an event the tracker takes","found":"#.utf8
        )
        ViolationEncoding.appendString(reason, to: &bytes)
        bytes.append(contentsOf: #"}]},"event":"#.utf8)
        bytes.append(contentsOf: event.batch.line(at: event.index))
        bytes.append(contentsOf: "}\n".utf8)
        return bytes
    }

    private static func appendHead(at time: Timestamp, source: String, stage: String, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"quarantine":{"at":"#.utf8)
        ViolationEncoding.appendString(time.description, to: &bytes)
        bytes.append(contentsOf: #","source":"#.utf8)
        ViolationEncoding.appendString(source, to: &bytes)
        bytes.append(contentsOf: #","stage":"\#(stage)","errors":"#.utf8)
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
