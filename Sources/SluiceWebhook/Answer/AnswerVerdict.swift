package import EventModel
package import TrackerKit

/// What an answer says about the events of its request.
package enum AnswerVerdict: Sendable {
    /// The receiver has all events.
    case delivered
    /// The receiver has all events but these, which it will never accept; `position` is in the request.
    case partly([DeliveryOutcome.Refusal])
    /// The receiver does not accept the request because of one of its events, or several: a part of it may be accepted.
    case refused(reason: String)
    /// The request is too large: a part of it may be accepted.
    case tooLarge(reason: String)
    /// The receiver has none of the events as far as it is known, and may accept them later.
    case retry(TrackerError, after: Duration?)
}

extension AnswerVerdict {
    /// The maximum size of a refusal's reason in bytes, before what may not be printed is escaped.
    static let maximumReasonBytes = 512

    /// What the status of a webhook's answer says.
    ///
    /// `Documentation/Operate/Trackers.md` has the table.
    package init(webhook answer: ReceiverAnswer, now: Timestamp) {
        switch answer.status {
        case 200...299: self = .delivered
        case 413: self = .tooLarge(reason: Self.reason(answer))
        case 400, 409, 422: self = .refused(reason: Self.reason(answer))
        default: self = Self.failure(answer, now: now)
        }
    }

    /// What a status says that is about the receiver, and not about an event.
    static func failure(_ answer: ReceiverAnswer, now: Timestamp) -> AnswerVerdict {
        let sentence = "The receiver answered with status \(answer.status)."
        return switch answer.status {
        case 408, 425, 429, 502, 503, 504:
            .retry(WebhookErrors.unavailable(sentence), after: RetryAfter.pause(answer.retryAfter, now: now))
        case 500...599:
            // Perhaps an event breaks the receiver, which is found out if others do not.
            .retry(WebhookErrors.failed(sentence), after: RetryAfter.pause(answer.retryAfter, now: now))
        case 300...399:
            .retry(
                WebhookErrors.misconfigured("\(sentence) Redirects are not followed; correct the address."),
                after: nil
            )
        case 401, 403, 407:
            .retry(WebhookErrors.misconfigured("\(sentence) Correct the credentials or their rights."), after: nil)
        default:
            .retry(WebhookErrors.misconfigured("\(sentence) Correct the address or the receiver."), after: nil)
        }
    }

    /// The beginning of a text, as it may be printed.
    static func printable(_ text: some Collection<UInt8>) -> String {
        var escaped: [UInt8] = []
        TerminalEscapes.append(text.prefix(maximumReasonBytes), to: &escaped)
        return String(decoding: escaped, as: UTF8.self)
    }

    /// The status and the beginning of the answer, as they may be printed.
    static func reason(_ answer: ReceiverAnswer) -> String {
        let text = printable(answer.body)
        return text.isEmpty ? "status \(answer.status)" : "status \(answer.status): \(text)"
    }
}
