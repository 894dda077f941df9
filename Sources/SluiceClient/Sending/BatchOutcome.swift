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

    /// Judges an answer; `nil` stands for none.
    package init(_ answer: TransportAnswer?) {
        guard let answer else {
            self = .later(after: nil, reason: "there was no answer")
            return
        }
        let body = AnswerBody(answer.body)
        let reason = body.error.map { "\($0.message) [\($0.code)]" } ?? "the status was \(answer.status)"
        switch answer.status {
        case 200 where body.accepted != nil, 422 where body.accepted != nil: self = .settled(body.rejections)
        // The login page of a network, for example.
        case 200, 422: self = .later(after: nil, reason: "the answer was not one of Sluice")
        case 413: self = .tooLarge
        // About the request and not about its events, each of which the server judges alone.
        case 400, 401, 403, 404, 405, 415: self = .refused(reason)
        default:
            self = .later(after: answer.retryAfter.flatMap { Int($0) }.map { .seconds(max(0, $0)) }, reason: reason)
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

    /// The rejected events; those that the server did not explain have no id and no codes.
    var rejections: [RejectedEvent] {
        let explained = (rejected ?? []).map { RejectedEvent(id: $0.id, codes: $0.errors.map(\.code)) }
        let others = max(0, (rejectedCount ?? 0) - explained.count)
        return explained + Array(repeating: RejectedEvent(id: nil, codes: []), count: others)
    }
}
