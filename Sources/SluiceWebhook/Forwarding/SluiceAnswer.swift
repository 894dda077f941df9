package import EventModel
import JSONTape
import TrackerKit

/// The answer of another Sluice to `POST /v1/events`, which `Documentation/Send/HTTP.md` describes.
package enum SluiceAnswer {
    /// What an answer says about the events of its request.
    package static func verdict(_ answer: ReceiverAnswer, to count: Int, now: Timestamp) -> AnswerVerdict {
        switch answer.status {
        case 200, 422:
            guard let refusals = refusals(in: answer.body, of: count) else {
                return .retry(WebhookErrors.misconfigured("The receiver's answer is not that of a Sluice."), after: nil)
            }
            return refusals.isEmpty ? .delivered : .partly(refusals)
        case 413: return .tooLarge(reason: AnswerVerdict.reason(answer))
        case 400:
            // The requests are well-formed, so it is no event's fault.
            return .retry(WebhookErrors.misconfigured("The receiver answered with status 400."), after: nil)
        default: return AnswerVerdict.failure(answer, now: now)
        }
    }

    /// The rejected events, each with its verdict if the answer has one; `nil` if the answer has another form, or does not say which
    /// events were rejected.
    private static func refusals(in body: [UInt8], of count: Int) -> [DeliveryOutcome.Refusal]? {
        guard case .object(let answer) = JSONValue(json: body), case .integer(let accepted) = answer["accepted"],
            case .array(let listed) = answer["rejected"]
        else { return nil }
        let positions = positions(answer["rejectedIndexes"] ?? .array([]), of: count)
        guard let positions, Int64(count - positions.count) == accepted else { return nil }
        var reasons: [Int: String] = [:]
        for case .object(let verdict) in listed {
            guard case .integer(let position) = verdict["index"], case .array(let errors) = verdict["errors"] else {
                continue
            }
            reasons[Int(position)] = AnswerVerdict.printable(errors.compactMap(reason).joined(separator: "; ").utf8)
        }
        return positions.map { .init(position: $0, reason: reasons[$0] ?? "rejected by the receiver") }
    }

    /// The positions in `[[0,99],[120,120]]`, ascending; `nil` if they are not in a request with so many events.
    private static func positions(_ ranges: JSONValue, of count: Int) -> [Int]? {
        guard case .array(let ranges) = ranges else { return nil }
        var positions: [Int] = []
        for range in ranges {
            guard case .array(let bounds) = range, bounds.count == 2, case .integer(let first) = bounds[0],
                case .integer(let last) = bounds[1], first > positions.last ?? -1, first <= last, last < count
            else { return nil }
            positions += Int(first)...Int(last)
        }
        return positions
    }

    /// The code and the place of an error.
    private static func reason(_ error: JSONValue) -> String? {
        guard case .object(let error) = error, case .string(let code) = error["code"] else { return nil }
        guard case .string(let path) = error["path"] else { return code }
        return "\(code) at \(path)"
    }
}
