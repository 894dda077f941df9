package import EventModel
package import EventQuarantine
import Foundation

/// A quarantined event with its verdict.
package struct QuarantineRecord: Sendable {
    private static let start = Array(#"{"quarantine":"#.utf8)
    /// These bytes occur only at the end of the verdict, because quotes inside strings are escaped.
    private static let end = Data(#"]},"event"#.utf8)

    /// The part of the quarantine and the number in it, such as `verdicts/0-17`; of a loader's record its place in Kafka, such as
    /// `events/3-17`.
    package let id: String
    /// The identity of that part, which is globally unique.
    package let partID: String
    /// The number in that part.
    package let sequence: UInt64
    /// Why the event was quarantined.
    package let verdict: StoredVerdict
    /// When the event was quarantined.
    package let at: Timestamp
    /// The whole line, without its end.
    package let line: ArraySlice<UInt8>

    /// Parses a line; `nil` if it is not a line of a quarantine.
    package init?(id: String, partID: String, sequence: UInt64, line: ArraySlice<UInt8>) {
        guard line.starts(with: Self.start), let end = Data(line).range(of: Self.end) else { return nil }
        let bytes = Data(line)[Self.start.count..<end.lowerBound + 2]
        guard let verdict = try? JSONDecoder().decode(StoredVerdict.self, from: bytes), let at = Timestamp(verdict.at)
        else {
            return nil
        }
        self.id = id
        self.partID = partID
        self.sequence = sequence
        self.line = line
        self.verdict = verdict
        self.at = at
    }

    /// Identifies the record among all records of all quarantines.
    package var key: String { "\(partID)/\(sequence)" }

    /// The event, byte for byte as it was sent.
    package var original: [UInt8] { Quarantine.original(ofLine: line) ?? [] }

    /// The event's name; `nil` if it cannot be read.
    package var eventName: String? {
        struct Named: Decodable {
            var name: String
        }
        return verdict.name ?? (try? JSONDecoder().decode(Named.self, from: Data(original)))?.name
    }

    /// The tracker that the event could not be delivered to; `nil` if the event was never accepted.
    package var tracker: String? {
        let prefix = "tracker:"
        guard verdict.stage == "delivery", verdict.source.hasPrefix(prefix) else { return nil }
        return String(verdict.source.dropFirst(prefix.count))
    }

    /// The verdict's codes in their order, without duplicates.
    package var codes: [String] {
        verdict.errors.map(\.code).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
