import EventModel
import EventValidation

/// An endpoint of Segment's HTTP Tracking API and of RudderStack's: one for each kind of message, and one for batches.
struct SegmentEndpoint: Dialect {
    var label: HTTPMetrics.DialectLabel { .segment }

    /// The kind of the message; `nil` for a batch.
    private let kind: SegmentKind?

    /// The names of the endpoints, with the kind of their messages.
    private static let names: [(name: String, kind: SegmentKind?)] = [
        ("batch", nil), ("b", nil), ("import", nil), ("track", .track), ("t", .track), ("identify", .identify),
        ("i", .identify), ("page", .page), ("p", .page), ("screen", .screen), ("s", .screen), ("group", .group),
        ("g", .group), ("alias", .alias), ("a", .alias),
    ]
    /// RudderStack's client for browsers sends beacons to the second one.
    private static let prefixes = ["/v1/", "/beacon/v1/"]

    /// The paths of all endpoints.
    static let paths = prefixes.flatMap { prefix in names.map { prefix + $0.name } }

    /// The endpoint of a path; `nil` if there is none.
    init?(path: some Collection<UInt8>) {
        guard let prefix = Self.prefixes.first(where: { path.starts(with: $0.utf8) }) else { return nil }
        let name = path.dropFirst(prefix.utf8.count)
        guard let endpoint = Self.names.first(where: { name.elementsEqual($0.name.utf8) }) else { return nil }
        kind = endpoint.kind
    }

    func translation(of arrival: BodyArrival) -> any BodyTranslation {
        MessageBody(SegmentMessages(kind: kind, arrival))
    }

    var keyParameter: StaticString? { "writeKey" }

    var mayHaveKeyInBody: Bool { true }

    /// 200, because the clients discard a batch that is answered with 400.
    var allRejectedStatus: StaticString { "200 OK" }

    /// Counted, because the clients discard a batch that is answered with 413.
    var excess: BodyExcess { .isCounted }

    func answer(to body: CheckedBody, statedIDs ids: [String?], within maximumBytes: Int) -> [UInt8] {
        Array(#"{"success":true,"#.utf8) + VerdictEncoder.verdicts(of: body, within: maximumBytes).dropFirst()
    }

    func answer(to failure: Failure) -> [UInt8] {
        Array(#"{"success":false,"#.utf8) + AnswerEncoder.members(of: failure) + Array("}".utf8)
    }
}
