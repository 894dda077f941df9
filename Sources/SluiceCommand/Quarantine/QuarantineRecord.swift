import EventModel
import EventQuarantine
import Foundation

/// One event of a quarantine, with the reason why it is there.
struct QuarantineRecord {
    /// What stands before the event on its line.
    struct Verdict: Codable {
        /// Nothing but the code where the verdicts of its request would have taken too much room.
        struct Reason: Codable {
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
    }

    private static let start = Array(#"{"quarantine":"#.utf8)
    /// A quote inside a string is escaped, so these bytes stand only where the verdict ends.
    private static let end = Data(#"]},"event"#.utf8)

    /// The part of the quarantine and the number there, as `verdicts/0-17`.
    let id: String
    /// The identity of that part, which no other ever has, and the number.
    let partID: String
    let sequence: UInt64
    let verdict: Verdict
    let at: Timestamp
    let line: ArraySlice<UInt8>

    /// Reads a line; `nil` where it is none of a quarantine.
    init?(part: QuarantineFolder.Part, partID: String, sequence: UInt64, line: ArraySlice<UInt8>) {
        guard line.starts(with: Self.start), let end = Data(line).range(of: Self.end) else { return nil }
        let bytes = Data(line)[Self.start.count..<end.lowerBound + 2]
        guard let verdict = try? JSONDecoder().decode(Verdict.self, from: bytes), let at = Timestamp(verdict.at) else {
            return nil
        }
        id = "\(part)-\(sequence)"
        self.partID = partID
        self.sequence = sequence
        self.line = line
        self.verdict = verdict
        self.at = at
    }

    /// What tells it from every record of every quarantine.
    var key: String { "\(partID)/\(sequence)" }

    /// The event as it was sent.
    var original: [UInt8] { Quarantine.original(ofLine: line) ?? [] }

    /// The event's name, as far as it can be read.
    var eventName: String? {
        struct Named: Decodable {
            var name: String
        }
        return verdict.name ?? (try? JSONDecoder().decode(Named.self, from: Data(original)))?.name
    }

    /// The tracker that did not take the event; `nil` where it did not follow the plan.
    var tracker: String? {
        let prefix = "tracker:"
        guard verdict.stage == "delivery", verdict.source.hasPrefix(prefix) else { return nil }
        return String(verdict.source.dropFirst(prefix.count))
    }

    /// Its codes, each once, in their order.
    var codes: [String] {
        verdict.errors.map(\.code).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
