package import EventModel
import EventSchema
package import EventValidation
import PortDefinitions
package import TrackerKit

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The format of a stored event: one JSON object on one line.
///
/// ```json
/// {"quarantine":{"at":…,"source":…,"stage":…,"planVersion":…,"name":…,"errors":[…]},"event":{…}}
/// ```
///
/// `stage` is `check` if an input rejected the event; then `source` is the origin of the event. It is `delivery` if the event was
/// accepted and could not be delivered to a tracker; then `source` is `tracker:NAME`, and the event is for that tracker only.
/// `planVersion` is present if the plan has a version, and `name` if the plan has the event. An error has only its `code` if the
/// verdicts of the request would take too much space. `event` is the original, byte for byte. If it has line breaks, or may not
/// be JSON, it is a string `eventText` instead, and if it is not UTF-8, `eventBase64`.
package enum QuarantineLine {
    /// The members that all events of a request share.
    struct Head {
        let time: Timestamp
        let source: String
        let stage: String
        let planVersion: String?

        /// The head of events that an input rejected; `source` is their origin.
        static func check(from source: String, at time: Timestamp, planVersion: String?) -> Head {
            Head(time: time, source: source, stage: "check", planVersion: planVersion)
        }

        /// The head of accepted events that could not be delivered to a tracker.
        static func delivery(to tracker: String, at time: Timestamp, planVersion: String?) -> Head {
            Head(time: time, source: "tracker:\(tracker)", stage: "delivery", planVersion: planVersion)
        }
    }

    /// Writes an event that failed validation.
    static func append(_ rejection: Rejection, _ head: Head, to bytes: inout [UInt8]) {
        append(
            verdict: verdict(on: rejection, head),
            rejection.original,
            holdsJSON: rejection.holdsJSON,
            to: &bytes
        )
    }

    /// Writes an event that a tracker refused, or that was parked.
    package static func append(
        _ event: TrackedEvent,
        refusedBy tracker: String,
        as verdict: DeliveryVerdict,
        reason: String,
        at time: Timestamp,
        to bytes: inout [UInt8]
    ) {
        let head = Head.delivery(to: tracker, at: time, planVersion: event.batch.catalog.plan.version)
        bytes.append(contentsOf: #"{"quarantine":"#.utf8)
        append(head, name: event.name, to: &bytes)
        append(verdict, reason: reason, to: &bytes)
        bytes.append(contentsOf: #","event":"#.utf8)
        bytes.append(contentsOf: event.batch.line(at: event.index))
        bytes.append(contentsOf: "}\n".utf8)
    }

    /// Writes an event as it was sent, with its verdict.
    static func append(
        verdict: some Collection<UInt8>,
        _ original: [UInt8],
        holdsJSON: Bool,
        to bytes: inout [UInt8]
    ) {
        bytes.reserveCapacity(bytes.count + verdict.count + original.count + 64)
        bytes.append(contentsOf: #"{"quarantine":"#.utf8)
        bytes.append(contentsOf: verdict)
        bytes.append(UInt8(ascii: ","))
        if !holdsJSON || hasNoLineOfItsOwn(original) {
            appendText(original, to: &bytes)
        } else {
            bytes.append(contentsOf: #""event":"#.utf8)
            bytes.append(contentsOf: original)
        }
        bytes.append(contentsOf: "}\n".utf8)
    }

    // MARK: The verdict

    /// The verdict on an event that failed validation.
    static func verdict(on rejection: Rejection, _ head: Head) -> [UInt8] {
        var bytes: [UInt8] = []
        append(head, name: rejection.name, to: &bytes)
        rejection.violations.appendJSON(to: &bytes)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// The verdict on an accepted event that no longer follows the plan, and that a tracker had not delivered, as JSON.
    package static func verdict(
        on rejection: Rejection,
        undeliveredBy tracker: String,
        at time: Timestamp,
        planVersion: String?
    ) -> String {
        String(
            decoding: verdict(on: rejection, .delivery(to: tracker, at: time, planVersion: planVersion)),
            as: UTF8.self
        )
    }

    /// The verdict on an event that a tracker refused, or that was parked, as JSON.
    package static func verdict(
        onEvent name: String,
        refusedBy tracker: String,
        as verdict: DeliveryVerdict,
        reason: String,
        at time: Timestamp,
        planVersion: String?
    ) -> String {
        var bytes: [UInt8] = []
        append(.delivery(to: tracker, at: time, planVersion: planVersion), name: name, to: &bytes)
        append(verdict, reason: reason, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ verdict: DeliveryVerdict, reason: String, to bytes: inout [UInt8]) {
        bytes.append(
            contentsOf: #"[{"code":"\#(verdict.rawValue)","path":"$","expected":"\#(verdict.expected)","found":"#.utf8
        )
        JSONString.append(reason, to: &bytes)
        bytes.append(contentsOf: "}]}".utf8)
    }

    /// A lower bound of the size of `verdict(on:_:)` for these violations.
    static func leastBytes(of violations: [Violation]) -> Int {
        violations.reduce(0) { $0 + $1.path.utf8.count + $1.expected.utf8.count + $1.found.utf8.count }
    }

    /// A verdict with only codes.
    static func verdict(of codes: [VerdictCode], _ head: Head) -> [UInt8] {
        var bytes: [UInt8] = []
        append(head, name: nil, to: &bytes)
        let errors = codes.map { #"{"code":"\#($0.rawValue)"}"# }
        bytes.append(contentsOf: "[\(errors.joined(separator: ","))]}".utf8)
        return bytes
    }

    private static func append(_ head: Head, name: String?, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"at":"#.utf8)
        JSONString.append(head.time.description, to: &bytes)
        bytes.append(contentsOf: #","source":"#.utf8)
        JSONString.append(head.source, to: &bytes)
        bytes.append(contentsOf: #","stage":"\#(head.stage)""#.utf8)
        if let version = head.planVersion {
            bytes.append(contentsOf: #","planVersion":"#.utf8)
            JSONString.append(version, to: &bytes)
        }
        if let name {
            bytes.append(contentsOf: #","name":"#.utf8)
            JSONString.append(name, to: &bytes)
        }
        bytes.append(contentsOf: #","errors":"#.utf8)
    }

    // MARK: The event

    /// Whether the original cannot be written unchanged on one line.
    private static func hasNoLineOfItsOwn(_ original: [UInt8]) -> Bool {
        original.isEmpty || original.contains(UInt8(ascii: "\n")) || original.contains(UInt8(ascii: "\r"))
    }

    private static func appendText(_ original: [UInt8], to bytes: inout [UInt8]) {
        if String(validating: original, as: UTF8.self) != nil {
            bytes.append(contentsOf: #""eventText":"#.utf8)
            JSONString.append(original, to: &bytes)
        } else {
            bytes.append(contentsOf: #""eventBase64":""#.utf8)
            bytes.append(contentsOf: Data(original).base64EncodedString().utf8)
            bytes.append(UInt8(ascii: "\""))
        }
    }
}

extension Rejection {
    /// Whether the original is JSON that our parser can read; false if that is unknown.
    var holdsJSON: Bool { !violations.contains { $0.code.mayBeOfNoJSON } }
}

extension VerdictCode {
    /// Whether the check may have stopped before the end of the event.
    var mayBeOfNoJSON: Bool {
        switch kind {
        case .malformedJSON, .tooLarge, .tooDeep: true
        case .unknownEvent, .forbiddenEvent, .unknownField, .missingRequired, .wrongType, .notInEnum, .tooLong,
            .tooShort, .patternMismatch, .unplannedProperty, .invalidID, .invalidTime, .timeOutOfRange,
            .identifierTooLong, .outOfRange:
            false
        }
    }
}
