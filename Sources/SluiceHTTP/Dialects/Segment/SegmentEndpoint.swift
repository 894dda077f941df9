import EventModel
import EventValidation

/// An endpoint of Segment's HTTP Tracking API and of RudderStack's: one for each kind of message, and one for batches.
struct SegmentEndpoint: Dialect {
    /// The kind of the message; `nil` for a batch.
    private let kind: SegmentKind?

    /// The endpoint of a path; `nil` if there is none.
    init?(path: some Collection<UInt8>) {
        let path = String(decoding: path, as: UTF8.self)
        // RudderStack's client for browsers sends beacons there.
        let prefix = ["/v1/", "/beacon/v1/"].first { path.hasPrefix($0) }
        guard let prefix else { return nil }
        switch path.dropFirst(prefix.count) {
        case "batch", "b", "import": kind = nil
        case "track", "t": kind = .track
        case "identify", "i": kind = .identify
        case "page", "p": kind = .page
        case "screen", "s": kind = .screen
        case "group", "g": kind = .group
        case "alias", "a": kind = .alias
        default: return nil
        }
    }

    func translation(arrival: Timestamp) -> any BodyTranslation {
        MessageBody(SegmentMessages(kind: kind, arrival: arrival))
    }

    var keyParameter: StaticString? { "writeKey" }

    var mayHaveKeyInBody: Bool { true }

    /// 200, because the clients discard a batch that is answered with 400.
    var allRejectedStatus: StaticString { "200 OK" }

    func answer(to body: CheckedBody, within maximumBytes: Int) -> [UInt8] {
        Array(#"{"success":true,"#.utf8) + VerdictEncoder.verdicts(of: body, within: maximumBytes).dropFirst()
    }

    func answer(to failure: Failure) -> [UInt8] {
        Array(#"{"success":false,"#.utf8) + AnswerEncoder.members(of: failure) + Array("}".utf8)
    }
}
