import EventModel
import EventValidation

/// The format of a body and of its response.
enum BodyLanguage {
    /// Sluice's own format.
    case sluice(BodyFormat)
    /// The format of other clients.
    case dialect(any Dialect)

    /// The format in metrics.
    var label: HTTPMetrics.DialectLabel {
        switch self {
        case .sluice: .sluice
        case .dialect(let dialect): dialect.label
        }
    }

    /// Whether the key may be in the body.
    var mayHaveKeyInBody: Bool { if case .dialect(let dialect) = self { dialect.mayHaveKeyInBody } else { false } }

    /// The response for a failed request; nothing of it was stored.
    func answer(to failure: Failure) -> Answer {
        switch self {
        case .sluice:
            Answer(status: failure.status, fields: failure.fields, body: AnswerEncoder.body(of: failure))
        case .dialect(let dialect):
            Answer(status: dialect.status(of: failure), fields: failure.fields, body: dialect.answer(to: failure))
        }
    }

    /// The response for a strict request whose body has rejected events; nothing of it was stored.
    ///
    /// In the format of other clients, it is that for a failed request, with the verdicts beside it.
    func answer(toStrict body: CheckedBody, within maximumBytes: Int) -> Answer {
        let room = maximumBytes - AnswerEncoder.maximumFailureBytes
        let verdicts = VerdictEncoder.verdicts(of: body, accepted: 0, within: room)
        guard case .dialect = self else { return Answer(status: Failure.rejectedEvents.status, body: verdicts) }
        let failure = answer(to: .rejectedEvents)
        let members = (failure.body ?? []).dropLast() + [UInt8(ascii: ",")] + verdicts.dropFirst()
        return Answer(status: failure.status, fields: failure.fields, body: Array(members))
    }
}

/// An endpoint of a client protocol other than Sluice's own: how its bodies become events, and how its clients are answered.
///
/// CONTRIBUTING.md says what belongs to a new one.
protocol Dialect: Sendable {
    /// The dialect in metrics.
    var label: HTTPMetrics.DialectLabel { get }

    /// Notes a header field of the request.
    mutating func note(_ name: String.UTF8View, _ value: String)

    /// Begins to translate a body.
    func translation(of arrival: BodyArrival) -> any BodyTranslation

    /// Whether a body that begins like gzip is inflated, even if no `Content-Encoding` says that it is compressed.
    var recognizesGzip: Bool { get }

    /// Whether a body may be a form (`application/x-www-form-urlencoded`).
    var acceptsForms: Bool { get }

    /// The parameter of the query string that may contain the key.
    var keyParameter: StaticString? { get }

    /// Whether the key may be in the body.
    var mayHaveKeyInBody: Bool { get }

    /// The status of the answer to a body whose events were all rejected.
    var allRejectedStatus: StaticString { get }

    /// What happens to a body that has more events, or more rejected ones, than it may.
    var excess: BodyExcess { get }

    /// The body of the answer to a body that was checked and whose valid events are stored.
    ///
    /// `ids` are the translation's `statedIDs`.
    func answer(to body: CheckedBody, statedIDs ids: [String?], within maximumBytes: Int) -> [UInt8]

    /// The status of the response for a failed request.
    func status(of failure: Failure) -> StaticString

    /// The response body for a failed request; nothing of it was stored.
    func answer(to failure: Failure) -> [UInt8]
}

extension Dialect {
    mutating func note(_ name: String.UTF8View, _ value: String) {}
    var recognizesGzip: Bool { false }
    var acceptsForms: Bool { false }
    func status(of failure: Failure) -> StaticString { failure.status }
    var keyParameter: StaticString? { nil }
    var mayHaveKeyInBody: Bool { false }
    var excess: BodyExcess { .refusesBody }
}

/// When a body arrived, and the times that its events can plausibly have.
struct BodyArrival {
    let time: Timestamp
    /// The times that events may have, and with them the results of the correction of a client's clock.
    let window: TimeWindow
}

/// Translates one body into events of Sluice's own format, in one or more turns of the event loop.
protocol BodyTranslation: AnyObject {
    /// Translates as much as the budget allows; `body` must be the same in each turn.
    ///
    /// - Returns: Whether the translation is complete.
    /// - Throws: `MalformedBody`.
    func advance(_ body: UnsafeRawBufferPointer, with tools: TranslationTools, within bytes: inout Int) throws -> Bool

    /// The key that the body contains, as soon as it is found, and at the latest once it is translated; the first one, if there are
    /// several.
    var key: [UInt8]? { get }

    /// Conceals the sender's key in messages that could not be translated, because the quarantine stores them.
    func conceal(_ key: [UInt8])

    /// The events in Sluice's format, one a line.
    var text: UnsafeRawBufferPointer { get }

    /// The ids of the messages as their client wrote them, one for each line of `text`; `nil` for an id that cannot be read.
    ///
    /// Only a dialect whose answers name messages by their ids needs them; for the others the list is empty.
    var statedIDs: [String?] { get }

    /// What is wrong with messages beside what the check finds in their lines, by the indexes of the lines.
    var refusals: [Int: [Violation]] { get }

    /// Its approximate size in memory.
    var byteCount: Int { get }
}
