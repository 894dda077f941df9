import ServerTestSupport

/// Requests that are HTTP, and whose target, fields or body are not as they should be.
extension MalformedRequest {
    private static let ping = Array(Requests.ping.utf8)

    static let fields: [MalformedRequest] = [
        .init("an unknown path", post(ping, to: "/v1/elsewhere"), 404, "not-found", .staysOpen),
        .init("a path with two slashes", post(ping, to: "//v1/events"), 404, "not-found", .staysOpen),
        .init("a path that leaves and comes back", post(ping, to: "/x/../v1/events"), 404, "not-found", .staysOpen),
        .init("an escaped path", post(ping, to: "/v1/%65vents"), 404, "not-found", .staysOpen),
        .init(
            "a method that the path does not allow",
            "PUT /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
            405,
            "method-not-allowed",
            .staysOpen
        ),
        .init(
            "a body for a GET",
            "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
            200,
            nil,
            .staysOpen
        ),
        .init(
            "a type that is not JSON",
            post(ping, "Content-Type: text/html\r\n"),
            415,
            "unsupported-media-type",
            .staysOpen
        ),
        .init(
            "another charset",
            post(ping, "Content-Type: application/json; charset=utf-16\r\n"),
            415,
            "unsupported-media-type",
            .staysOpen
        ),
        .init(
            "two types",
            post(ping, "Content-Type: application/json\r\nContent-Type: text/html\r\n"),
            415,
            "unsupported-media-type",
            .staysOpen
        ),
        .init("an unknown encoding", post(ping, "Content-Encoding: br\r\n"), 415, "unsupported-encoding", .staysOpen),
        .init("gzip twice", post(ping, "Content-Encoding: gzip, gzip\r\n"), 415, "unsupported-encoding", .staysOpen),
        .init(
            "two encodings",
            post(ping, "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n"),
            415,
            "unsupported-encoding",
            .staysOpen
        ),
        .init(
            "strictness that is neither true nor false",
            post(ping, "Sluice-Strict: yes\r\n"),
            400,
            "invalid-strict",
            .staysOpen
        ),
        .init("an unknown expectation", post(ping, "Expect: 200-ok\r\n"), 417, "unknown-expectation", .ends),
    ]

    static let compressed: [MalformedRequest] = {
        let whole = StoredGzip.member(ping)
        let invalid: [(String, [UInt8])] = [
            ("text instead of gzip", ping),
            ("nothing instead of gzip", []),
            ("gzip without its last byte", Array(whole.dropLast())),
            ("gzip without its checksum", Array(whole.dropLast(8))),
            ("the header of gzip alone", Array(whole.prefix(10))),
            ("gzip with a wrong checksum", StoredGzip.member(ping, checksumChange: 1)),
            ("gzip with a wrong length", StoredGzip.member(ping, lengthChange: 1)),
            ("gzip with reserved flags", StoredGzip.member(ping, flags: 0xE0)),
            ("gzip with an invalid block", Array(whole.prefix(10)) + [0xFF] + Array(whole.dropFirst(11))),
            ("gzip with bytes after its end", whole + [1, 2, 3]),
            ("gzip whose second member is cut", whole + Array(whole.dropLast(4))),
        ]
        // RFC 1952 allows this: the members follow one another.
        let members = StoredGzip.member(ping.prefix(7)) + StoredGzip.member(ping.dropFirst(7))
        let field = "Content-Encoding: gzip\r\n"
        return invalid.map { .init($0.0, post($0.1, field), 400, "invalid-gzip", .staysOpen) }
            + [.init("gzip of two members", post(members, field), 200, nil, .staysOpen, accepted: 1)]
    }()

    /// `JSONCorpusTests` has many more texts; these are one of each kind.
    static let documents: [MalformedRequest] = [
        .init("an empty body", post(""), 400, "malformed-json", .staysOpen),
        .init("text", post("hello"), 400, "malformed-json", .staysOpen),
        .init("a cut document", post(#"{"name":"Pi"#), 400, "malformed-json", .staysOpen),
        .init("two documents", post(Requests.ping + Requests.ping), 400, "malformed-json", .staysOpen),
        .init("UTF-16", post([0xFF, 0xFE, 0x7B, 0, 0x7D, 0]), 400, "malformed-json", .staysOpen),
        .init("50,000 open brackets", post(String(repeating: "[", count: 50_000)), 400, "malformed-json", .staysOpen),
        .init(
            "50,000 levels",
            post(#"{"name":"Ping","context":{"x":\#(nested(50_000))}}"#),
            422,
            "too-deep",
            .staysOpen
        ),
        .init("65 levels", post(#"{"name":"Ping","context":{"x":\#(nested(65))}}"#), 422, "too-deep", .staysOpen),
        .init("a key twice", post(#"{"name":"Ping","context":{"x":1,"x":1}}"#), 422, "malformed-json", .staysOpen),
        .init("the name twice", post(#"{"name":"Ping","name":"Ping"}"#), 422, "malformed-json", .staysOpen),
        .init("a number beyond all", post(#"{"name":"Ping","context":{"x":1e400}}"#), 422, "out-of-range", .staysOpen),
        .init("NaN", post(#"{"name":"Ping","context":{"x":NaN}}"#), 400, "malformed-json", .staysOpen),
        .init("NUL in a text", post(#"{"name":"Ping","userId":"\u0000"}"#), 422, "malformed-json", .staysOpen),
        .init(
            "half of a surrogate pair",
            post(#"{"name":"Ping","userId":"\uD800"}"#),
            400,
            "malformed-json",
            .staysOpen
        ),
        .init("a number instead of an event", post("1"), 422, "wrong-type", .staysOpen),
        // RFC 8259 lets a reader ignore it.
        .init("a byte order mark", post([0xEF, 0xBB, 0xBF] + ping), 200, nil, .staysOpen, accepted: 1),
        .init("an invalid event among valid ones", post("[\(Requests.ping),1]"), 200, nil, .staysOpen, accepted: 1),
        .init(
            "an invalid line among valid ones",
            post("{\n\(Requests.ping)", "Content-Type: application/x-ndjson\r\n"),
            200,
            nil,
            .staysOpen,
            accepted: 1
        ),
    ]

    /// The dialects answer in the formats of their clients; those of Segment and PostHog get 200 for all that can be read.
    static let dialects: [MalformedRequest] = [
        .init("Segment: text", post("hello", to: "/v1/batch"), 400, "malformed-json", .staysOpen),
        .init("Segment: no batch", post("{}", to: "/v1/batch"), 400, "malformed-json", .staysOpen),
        .init(
            "Segment: invalid gzip",
            post(ping, to: "/v1/batch", "Content-Encoding: gzip\r\n"),
            400,
            "invalid-gzip",
            .staysOpen
        ),
        .init("Segment: an unknown event", post(#"{"event":"Unknown"}"#, to: "/v1/track"), 200, nil, .staysOpen),
        .init(
            "Segment: a message with NaN",
            post(
                #"{"batch":[{"type":"track","event":"Ping","properties":{"n":NaN}},{"type":"track","event":"Ping"}]}"#,
                to: "/v1/batch"
            ),
            200,
            nil,
            .staysOpen,
            accepted: 1
        ),
        .init(
            "Segment: 50,000 levels",
            post(#"{"batch":[{"type":"track","event":"Ping","context":{"x":\#(nested(50_000))}}]}"#, to: "/v1/batch"),
            200,
            nil,
            .staysOpen
        ),
        .init(
            "Segment: a key twice",
            post(#"{"event":"Ping","context":{"x":1,"x":1}}"#, to: "/v1/track"),
            200,
            nil,
            .staysOpen
        ),
        .init("PostHog: text", post("hello", to: "/batch/"), 400, "malformed-json", .staysOpen),
        .init(
            "PostHog: invalid gzip",
            post(ping, to: "/batch/", "Content-Encoding: gzip\r\n"),
            400,
            "invalid-gzip",
            .staysOpen
        ),
        .init(
            "PostHog: an unknown event",
            post(#"{"event":"Unknown","distinct_id":"u"}"#, to: "/e/"),
            200,
            nil,
            .staysOpen
        ),
        .init(
            "PostHog: a form without data",
            post("x=y", to: "/e/", "Content-Type: application/x-www-form-urlencoded\r\n"),
            400,
            "malformed-json",
            .staysOpen
        ),
        .init(
            "CloudEvents: text",
            post("hello", "Content-Type: application/cloudevents+json\r\n"),
            400,
            "malformed-json",
            .staysOpen
        ),
        .init(
            "CloudEvents: no attributes",
            post("{}", "Content-Type: application/cloudevents+json\r\n"),
            422,
            "missing-required",
            .staysOpen
        ),
        .init(
            "CloudEvents: an unknown mode",
            post("{}", "Content-Type: application/cloudevents+xml\r\n"),
            415,
            "unsupported-media-type",
            .staysOpen
        ),
    ]

    private static func nested(_ levels: Int) -> String {
        String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
}
