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

/// The members of a verdict.
private struct StoredVerdict: Decodable {
    struct Reason: Decodable {
        var code: String
        var path: String?
        var expected: String?
        var found: String?
        var plan: String?
    }

    var at: String
    var source: String
    var stage: String
    var planVersion: String?
    var name: String?
    var errors: [Reason]

    /// The verdict with its members in the order of a line.
    var bytes: [UInt8] {
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
    var holdsJSON: Bool {
        let codes = [VerdictCode.malformedJSON, .tooLarge, .tooDeep].map(\.rawValue)
        return !errors.contains { reason in
            codes.contains(reason.code) || reason.code == VerdictCode.outOfRange.rawValue && reason.path == "$"
        }
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
