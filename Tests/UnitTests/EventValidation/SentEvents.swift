import EventModel
import EventSchema
import EventValidation
import Foundation
import TestCases
import Testing

/// Events of the sample plan as senders write them.
enum Sent {
    /// A valid purchase; `more` has further members of its payload, each after a comma.
    static func purchase(_ more: String = "", envelope: String = "") -> String {
        #"{"name":"Item Purchased"\#(envelope),"payload":{"sku":"AB","quantity":1,"price":2.5\#(more)}}"#
    }

    /// An event with a free-form payload.
    static func open(_ members: String) -> String { #"{"name":"Open","payload":{\#(members)}}"# }

    /// An event without a payload; `more` has further members of the envelope, each after a comma.
    static func ping(_ more: String = "") -> String { #"{"name":"Ping"\#(more)}"# }

    static let arrival = Timestamp(microseconds: 1_700_000_000_000_000)
}

extension EventValidator {
    static func sample(identity: EventIdentity = .assigned, acceptsReceivedAt: Bool = false) -> EventValidator {
        EventValidator(
            catalog: .sample,
            identity: identity,
            acceptsReceivedAt: acceptsReceivedAt,
            now: { Sent.arrival }
        )
    }

    /// The verdict on one event, which must be the same alone, in an array, and as a line.
    func verdict(of event: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
        let alone = try check(event)
        let amongOthers = try check("[\(Sent.ping()), \(event) ,\(Sent.ping())]")
        let asLine = try check("\(Sent.ping())\n\(event)\n\(Sent.ping())\n", as: .lines)
        #expect(amongOthers.count == 3 && asLine.count == 3, sourceLocation: sourceLocation)
        #expect(amongOthers.summary == alone.summary, "in an array", sourceLocation: sourceLocation)
        #expect(asLine.summary == alone.summary, "as a line", sourceLocation: sourceLocation)
        return alone.summary
    }

    /// The payload of one valid event in canonical form.
    func payload(of event: String) throws -> String {
        let checked = try check(event)
        let line = try #require(checked.lines.first, "\(checked.summary)")
        let start = try #require(line.range(of: #","payload":"#))
        return String(line[start.upperBound...].dropLast())
    }
}

extension CheckedBody {
    /// All violations of the only rejected event; empty if none was rejected.
    var summary: [String] { rejections.first?.violations.map(\.summary) ?? [] }
}

extension Violation {
    /// `code path: expected / found (line of the plan)`.
    var summary: String {
        "\(code.rawValue) \(path): \(expected) / \(found)" + (location.map { " (\($0.line))" } ?? "")
    }
}
