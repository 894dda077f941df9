import EventModel
import EventValidation

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension QuarantineLine {
    /// Writes a record whose verdict was stored in another place, which may have changed the order of its members, as `jsonb` does.
    ///
    /// - Returns: Whether `verdict` is a verdict; otherwise nothing is written.
    package static func append(
        storedVerdict verdict: String,
        _ original: [UInt8],
        to bytes: inout [UInt8]
    ) -> Bool {
        guard let stored = try? JSONDecoder().decode(StoredVerdict.self, from: Data(verdict.utf8)) else { return false }
        append(verdict: stored.bytes, original, holdsJSON: stored.holdsJSON, to: &bytes)
        return true
    }
}

/// The verdict of a record, which is the part of its line before the event.
package struct StoredVerdict: Codable, Sendable {
    /// Has only a code if the verdicts of the request would have taken too much space.
    package struct Reason: Codable, Sendable {
        package let code: String
        package let path: String?
        package let expected: String?
        package let found: String?
        package let plan: String?
    }

    package let at: String
    package let source: String
    package let stage: String
    package let planVersion: String?
    package let name: String?
    package let errors: [Reason]

    /// The verdict with its members in the order of a line.
    fileprivate var bytes: [UInt8] {
        let head = [
            ("at", at), ("source", source), ("stage", stage), ("planVersion", planVersion), ("name", name),
        ]
        var bytes = Array("{".utf8)
        Self.append(head, to: &bytes)
        bytes += #","errors":["#.utf8
        for (place, reason) in errors.enumerated() {
            bytes += (place == 0 ? "{" : ",{").utf8
            Self.append(reason.members, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes += "]}".utf8
        return bytes
    }

    /// Whether the original is JSON that our parser can read, as for a `Rejection`; false if that is unknown.
    fileprivate var holdsJSON: Bool {
        !errors.contains { VerdictCode(rawValue: $0.code)?.mayBeOfNoJSON ?? false }
    }

    private static func append(_ members: [(name: String, value: String?)], to bytes: inout [UInt8]) {
        var isFirst = true
        for (name, value) in members {
            guard let value else { continue }
            bytes += (isFirst ? "\"\(name)\":" : ",\"\(name)\":").utf8
            JSONString.append(value, to: &bytes)
            isFirst = false
        }
    }
}

extension StoredVerdict.Reason {
    fileprivate var members: [(name: String, value: String?)] {
        [("code", code), ("path", path), ("expected", expected), ("found", found), ("plan", plan)]
    }
}
