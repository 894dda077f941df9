@_spi(CanonicalJSON) import EventModel
import EventValidation
import PortDefinitions

/// PostHog's capture API, under each of the paths that its SDKs use, and its newer API for events.
struct PostHogEndpoint: Dialect {
    var label: HTTPMetrics.DialectLabel { .posthog }

    /// Whether it is the newer API, whose answers name the rejected events.
    private let answersByEvent: Bool
    /// The time of sending by the client's clock, if the query string or the header states it.
    private var sentAt: Timestamp?

    /// The paths of the newer API.
    private static let newerPaths = ["/i/v1/analytics/events", "/i/v1/analytics/events/"]

    /// The paths of both APIs.
    static let paths =
        ["/batch", "/batch/", "/capture", "/capture/", "/e", "/e/", "/i/v0/e", "/i/v0/e/"] + newerPaths

    /// The endpoint of a path; `nil` if there is none.
    init?(path: some Collection<UInt8>, query: some Collection<UInt8>) {
        guard let name = Self.paths.first(where: { path.elementsEqual($0.utf8) }) else { return nil }
        answersByEvent = Self.newerPaths.contains(name)
        // posthog-js puts it there, in milliseconds since 1970.
        sentAt = query.split(separator: UInt8(ascii: "&")).lazy
            .first { $0.starts(with: "_=".utf8) }
            .flatMap { Int64(String(decoding: $0.dropFirst(2).prefix(20), as: UTF8.self)) }
            .flatMap { milliseconds in
                let (microseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
                return overflow ? nil : Timestamp(microseconds: microseconds)
            }
    }

    mutating func note(_ name: String.UTF8View, _ value: String) {
        guard answersByEvent, name.equalsIgnoringCase("posthog-request-timestamp") else { return }
        var (value, reader) = (value, TimestampReader())
        sentAt = value.withUTF8 { reader.read(UnsafeRawBufferPointer($0), accepting: .postHog) }
    }

    func translation(of arrival: BodyArrival) -> any BodyTranslation {
        FormOrJSONBody(MessageBody(PostHogMessages(arrival, sentAt: sentAt, answersByEvent: answersByEvent)))
    }

    /// posthog-js compresses without a `Content-Encoding`, to avoid a CORS preflight request.
    var recognizesGzip: Bool { true }

    var acceptsForms: Bool { true }

    var mayHaveKeyInBody: Bool { true }

    /// 200, because the clients discard a batch that is answered with 400.
    var allRejectedStatus: StaticString { "200 OK" }

    /// Counted, because the clients discard a batch that is answered with 413.
    var excess: BodyExcess { .isCounted }

    func answer(to body: CheckedBody, statedIDs ids: [String?], within maximumBytes: Int) -> [UInt8] {
        if answersByEvent { return Self.results(of: body, ids, within: maximumBytes) }
        return Array(#"{"status":1,"#.utf8) + VerdictEncoder.verdicts(of: body, within: maximumBytes).dropFirst()
    }

    /// The result of each rejected event, by its id as the client wrote it; the clients take an event that is not listed as accepted.
    ///
    /// Some 3,000 results fit into 256 KiB; the clients send far smaller batches.
    private static func results(of body: CheckedBody, _ ids: [String?], within maximumBytes: Int) -> [UInt8] {
        var bytes = Array(#"{"accepted":\#(body.batch?.count ?? 0),"results":{"#.utf8)
        let room = maximumBytes - AnswerEncoder.maximumHeaderBytes
        let codes = Dictionary(
            body.rejections.map { ($0.index, $0.violations.first?.code) },
            uniquingKeysWith: { first, _ in first }
        )
        var listed: Set<ExactText> = []
        for index in body.rejected.indexes.joined() {
            guard index < ids.count, let id = ids[index], listed.insert(ExactText(id)).inserted else { continue }
            var result = listed.count > 1 ? [UInt8(ascii: ",")] : []
            JSONString.append(id, to: &result)
            result += Array(#":{"result":"drop""#.utf8)
            // The check describes only so many rejected events.
            if case let code?? = codes[index] { result += Array(#","details":"\#(code.rawValue)""#.utf8) }
            result.append(UInt8(ascii: "}"))
            guard bytes.count + result.count < room else { break }
            bytes += result
        }
        return bytes + Array("}}".utf8)
    }

    func status(of failure: Failure) -> StaticString { failure.code.statusForPostHog.line }

    func answer(to failure: Failure) -> [UInt8] {
        var bytes = Array(#"{"status":0,"#.utf8) + AnswerEncoder.members(of: failure)
        // The Python SDK shows `detail`.
        bytes += Array(#","detail":"#.utf8)
        JSONString.append(failure.message, to: &bytes)
        return bytes + Array("}".utf8)
    }
}
