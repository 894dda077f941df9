import Foundation

/// What an answer means for the events that were sent.
package enum BatchOutcome: Sendable, Hashable {
    /// The server has settled all of them; those that it rejected are lost.
    case settled([RejectedEvent])
    /// The server did not read them, because they are too many at once.
    case tooLarge
    /// They have to be sent again, not before this time has passed if the server states one.
    case later(after: Duration?, reason: String)
    /// They have to be sent again, but only a change of the configuration can help.
    case refused(String)

    /// The longest pause that a server can ask for; a longer one is taken for a fault of something between.
    package static let longestStatedPause = Duration.seconds(86_400)

    /// Judges the answer to a request with this many events; `nil` stands for none.
    package init(_ answer: TransportAnswer?, events: Int) {
        guard let answer else {
            self = .later(after: nil, reason: "there was no answer")
            return
        }
        let body = AnswerBody(answer.body)
        let reason = body.error.map { "\($0.message) [\($0.code)]" } ?? "the status was \(answer.status)"
        switch answer.status {
        case 200 where body.counts(events), 422 where body.counts(events): self = .settled(body.rejections)
        // The login page of a network, for example.
        case 200, 422: self = .later(after: nil, reason: "the answer was not one of Sluice")
        // A proxy says so too, and has the same reason.
        case 413: self = .tooLarge
        // The server refuses the request; it judges each event separately, in a 200 or a 422.
        case 400, 401, 403, 404, 405, 415:
            self = body.error == nil ? .later(after: nil, reason: reason) : .refused(reason)
        default:
            let stated = answer.retryAfter.flatMap { Int($0) }.map { Duration.seconds(max(0, $0)) }
            self = .later(after: stated.map { min($0, Self.longestStatedPause) }, reason: reason)
        }
    }
}

/// An event that the server rejected, because it does not follow the plan.
public struct RejectedEvent: Sendable, Hashable {
    /// The event's id; `nil` if the server explained no more rejections.
    public let id: String?
    /// The codes of the rules that it broke, such as `pattern-mismatch`.
    public let codes: [String]

    /// Describes a rejected event, as a test may need it.
    public init(id: String?, codes: [String]) {
        self.id = id
        self.codes = codes
    }
}

/// The body of an answer, as far as the client reads it.
private struct AnswerBody: Decodable {
    struct Failure: Decodable {
        let code: String
        let message: String
    }

    struct Rejection: Decodable {
        struct Problem: Decodable {
            let code: String
        }

        let id: String?
        let errors: [Problem]
    }

    var error: Failure?
    var accepted: Int?
    var rejected: [Rejection]?
    var rejectedCount: Int?

    init(_ bytes: [UInt8]) {
        if let body = try? JSONDecoder().decode(AnswerBody.self, from: Data(bytes)) { self = body }
    }

    /// Whether the server has judged this many events.
    func counts(_ events: Int) -> Bool {
        guard let accepted, accepted >= 0 else { return false }
        return accepted <= events && rejectionCount == events - accepted
    }

    /// The rejected events; those that the server did not explain have no id and no codes.
    var rejections: [RejectedEvent] {
        let explained = (rejected ?? []).map { RejectedEvent(id: $0.id, codes: $0.errors.map(\.code)) }
        let others = rejectionCount - explained.count
        return explained + Array(repeating: RejectedEvent(id: nil, codes: []), count: others)
    }

    private var rejectionCount: Int { max(rejectedCount ?? 0, rejected?.count ?? 0) }
}
