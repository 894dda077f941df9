import EventPipeline
import EventSchema
import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// The rules and examples of CloudEvents' HTTP binding and JSON format, and the cases of their conformance tests.
@Suite("The binding of CloudEvents to HTTP", .timeLimit(.minutes(5)))
struct CloudEventsBindingTests {
    private static let plan = DialectExchange.plan(
        ["com.example.someevent": [("message", .string)], "io.cloudevents.test": []],
        isOpen: true
    )

    /// Sends an event in binary mode whose attribute `subject` and id are in header fields.
    private static func binary(_ fields: [String], data: String = "{}") async throws -> DialectExchange {
        let required = ["ce-specversion: 1.0", "ce-type: com.example.someevent", "ce-source: /mycontext"]
        let all = (required + fields).map { $0 + "\r\n" }.joined()
        return try await DialectExchange.send(Array(data.utf8), to: "/v1/events", plan, fields: all)
    }

    /// The value of a member of a canonical line.
    private static func value(of path: [String], in line: String) throws -> String? {
        var object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        for step in path.dropLast() { object = object?[step] as? [String: Any] }
        return object?[path.last ?? ""] as? String
    }

    @Test(
        "header values are decoded as section 3.1.3.2 says",
        .promise("unusual-input"),
        arguments: [
            ("plain", "plain"),
            ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"),
            ("%e2%82%ac", "€"),
            ("%61%62", "ab"),
            ("a b", "a b"),
            ("€", "€"),
            ("%EF%BF%BD", "\u{FFFD}"),
            (#""quoted""#, "quoted"),
            (#""Euro%20\"x\" \\ %25""#, #"Euro "x" \ %"#),
            (#"a"b c"d"#, "ab cd"),
            (#""""#, ""),
            ("100%", "100%"),
            ("%2", "%2"),
            ("%zz", "%zz"),
            ("%2520", "%20"),
            ("back\\slash", "back\\slash"),
        ]
    )
    func headerValues(sent: String, meant: String) async throws {
        let result = try await Self.binary(["ce-id: 1", "ce-subject: \(sent)"])
        #expect(result.response.status == 200, "\(result.response.body)")
        let line = try #require(result.lines.first)
        #expect(try Self.value(of: ["context", "subject"], in: line) == meant)
    }

    @Test(
        "a value that is not UTF-8, or a quoted string that is not closed, is rejected with its attribute",
        arguments: ["id", "subject", "type", "my-ext"],
        ["%C0%A0", "%FF", "%FE", "%ED%A0%80", "%F4%90%80%80", "%E2%82", "\u{FFFD}", #""open"#, #"a"b"c"d"#]
    )
    func undecodable(attribute: String, value: String) async throws {
        let fields = attribute == "id" ? [] : ["ce-id: 1"]
        let result = try await Self.binary(fields + ["ce-\(attribute): \(value)"])
        #expect(result.response.status == 422)
        #expect(result.lines.isEmpty)
        let path = attribute == "my-ext" ? "$['my-ext']" : "$.\(attribute)"
        #expect(result.response.body.contains(#""code":"malformed-json","path":"\#(path)""#), "\(result.response.body)")
    }

    @Test(
        "bytes that are not UTF-8 in a header field are rejected, so that no two ids become one",
        .promise("unusual-input")
    )
    func rawBytes() async throws {
        for byte: UInt8 in [0xE9, 0xFF, 0xFE, 0x80] {
            let head = """
                POST /v1/events HTTP/1.1\r\nHost: sluice\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\
                ce-specversion: 1.0\r\nce-type: com.example.someevent\r\nce-source: /s\r\nce-id: a
                """
            let result = try await TestServer.run(TestServer.Setup(plan: Self.plan)) { server in
                let response = try await RawClient.with(server.address) { client in
                    try await client.send(bytes: Array(head.utf8) + [byte] + Array("\r\n\r\n{}".utf8))
                    return try await client.response()
                }
                await server.pipeline.flush()
                return (response.status, server.delivered.lines.count)
            }
            // The HTTP parser may refuse such a request itself.
            #expect([400, 422].contains(result.0) && result.1 == 0, "\(result)")
        }
    }

    @Test(
        "different ids stay different events, and the same id is the same event however it is encoded",
        .promise("unusual-input")
    )
    func identities() async throws {
        func id(_ value: String) async throws -> String? {
            try await Self.binary(["ce-id: \(value)"]).lines.first.map { String($0.prefix(45)) }
        }
        let distinct = ["a", "b", "%C3%A9", "e", "%25", "%2525", "a%20b", "a%22b", "a%5Cb", "%EF%BF%BD"]
        var seen: Set<String> = []
        for value in distinct { seen.insert(try #require(try await id(value))) }
        #expect(seen.count == distinct.count)
        for (one, other) in [("a b", "a%20b"), (#""a b""#, "a%20b"), ("%c3%a9", "é"), (#""a\"b""#, "a%22b")] {
            let (first, second) = (try await id(one), try await id(other))
            #expect(first != nil && first == second, "\(one) \(other)")
        }
    }

    @Test(
        "a header field that occurs twice is rejected",
        .promise("unusual-input"),
        arguments: ["id", "source", "type", "subject"]
    )
    func repeatedField(name: String) async throws {
        let value = ["source": "/mycontext", "type": "com.example.someevent"][name] ?? "1"
        let fields =
            name == "id" ? ["ce-id: 1", "ce-id: 2"] : ["ce-id: 1", "ce-\(name): \(value)", "CE-\(name): other"]
        let result = try await Self.binary(fields)
        #expect(result.response.status == 422)
        #expect(result.response.body.contains(#""path":"$.\#(name)""#) && result.response.body.contains("several"))
        #expect(result.lines.isEmpty)
    }

    @Test("an empty batch is accepted, large or not")
    func emptyBatch() async throws {
        for body in ["[]", " [ ] ", "[\(String(repeating: " ", count: 300_000))]"] {
            let result = try await DialectExchange.send(
                Array(body.utf8),
                to: "/v1/events",
                Self.plan,
                type: "application/cloudevents-batch+json; charset=UTF-8"
            )
            #expect(result.response.status == 200, "\(result.response.body)")
            #expect(result.response.body == #"{"accepted":0,"rejected":[]}"#)
        }
    }

    @Test(
        "the example of each mode gives the attributes and the data that the conformance tests require",
        arguments: [
            ("application/json", false), ("application/json; charset=utf-8", false),
            ("application/cloudevents+json", true), ("application/cloudevents+json; charset=utf-8", true),
        ]
    )
    func examples(type: String, isStructured: Bool) async throws {
        let structured = """
            {"specversion": "1.0", "type": "com.example.someevent", "time": "2018-04-05T03:56:24Z", "id": "1234-1234-1234",
             "source": "/mycontext/subcontext", "datacontenttype": "application/json", "data": {"message": "Hello World!"}}
            """
        let fields = """
            ce-specversion: 1.0\r\nce-type: com.example.someevent\r\nce-time: 2018-04-05T03:56:24Z\r\n\
            ce-id: 1234-1234-1234\r\nce-source: /mycontext/subcontext\r\n
            """
        let result = try await DialectExchange.send(
            Array((isStructured ? structured : #"{ "message": "Hello World!" }"#).utf8),
            to: "/v1/events",
            Self.plan,
            type: type,
            fields: isStructured ? "" : fields
        )
        let line = try #require(result.lines.first)
        #expect(try Self.value(of: ["name"], in: line) == "com.example.someevent")
        #expect(
            line.contains(#""time":"2018-04-05T03:56:24.000000Z""#) || line.contains(#""time":"2018-04-05T03:56:24Z""#)
        )
        #expect(try Self.value(of: ["context", "source"], in: line) == "/mycontext/subcontext")
        #expect(try Self.value(of: ["payload", "message"], in: line) == "Hello World!")
    }

    private static let minimal = [
        "specversion": #""1.0""#, "id": #""1""#, "type": #""io.cloudevents.test""#,
        "source": #""https://cloudevents.io""#,
    ]

    private static func structured(_ changes: [String: String?]) async throws -> DialectExchange {
        var attributes = minimal
        for (name, value) in changes { attributes[name] = value }
        let event = "{\(attributes.map { #""\#($0)":\#($1)"# }.joined(separator: ","))}"
        return try await DialectExchange.send(
            Array(event.utf8),
            to: "/v1/events",
            plan,
            type: "application/cloudevents+json"
        )
    }

    @Test(
        "events that the conformance tests call valid are accepted",
        arguments: [
            [:],
            ["datacontenttype": "null", "dataschema": "null", "subject": "null", "time": "null"],
            ["dataschema": #""https://cloudevents.io/dataschema""#, "subject": #""tests""#],
            ["time": #""2018-04-05T17:31:00Z""#], ["time": #""2018-04-05T17:31:00.000000000Z""#],
            ["time": #""2018-04-05T18:31:00+01:00""#], ["time": #""2018-04-05T16:31:00-01:00""#],
            ["source": ##""#fragment""##],
            ["extinteger": "10", "extboolean": "true", "extstring": #""text""#, "exturiref": #""//authority/path""#],
        ] as [[String: String]]
    )
    func valid(changes: [String: String]) async throws {
        let result = try await Self.structured(changes)
        #expect(result.response.status == 200, "\(result.response.body)")
        #expect(result.lines.count == 1)
    }

    @Test(
        "events that the conformance tests call invalid are rejected",
        arguments: [
            ["specversion": nil], ["id": nil], ["type": nil], ["source": nil],
            ["time": #""lunchtime""#], ["time": #""2018-04-05T18:31Z""#], ["time": #""2018-04-05T18:31:00X""#],
            ["time": #""2018-04-05T18:31:00+25:00""#], ["time": #""2018-04-05T18:31:00+xx:00""#],
            ["id": #""""#], ["type": #""""#], ["source": #""""#], ["specversion": #""""#], ["specversion": #""0.9""#],
            ["id": "25"], ["id": #"{"xyz":"abc"}"#],
            ["data": "{}", "data_base64": #""eyAieHl6IjogMTIzIH0=""#],
        ] as [[String: String?]]
    )
    func invalid(changes: [String: String?]) async throws {
        let result = try await Self.structured(changes)
        #expect(result.response.status == 422, "\(result.response.body)")
        #expect(result.lines.isEmpty)
    }
}
