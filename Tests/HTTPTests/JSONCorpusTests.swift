import EventPipeline
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Valid and invalid JSON texts, and the responses to events that contain them.
@Suite("A corpus of valid and invalid JSON", .timeLimit(.minutes(5)))
struct JSONCorpusTests {
    /// Values that RFC 8259 allows, as a sender's free-form context may contain them.
    private static let valid: [String] =
        [
            "null", "true", "false", "0", "-0", "1", "-1", "123456789", "0.5", "-0.5", "1e2", "1E2", "1e+2", "1e-2",
            "1.5E+10",
            "0e0", "0E+0", "1e-400", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
            "1.7976931348623157e308", "5e-324", "0.1e1", "18446744073709551616", "-9223372036854775809", "[]", "{}",
            "[ ]", "{ }", "[[]]", "[{}]", "{\"a\":{}}",
            "{\"a\":[]}",
            "\t[\n1\r,\t2 ]\n", "[1,2,3]", "[null,true,false,0,\"\"]", "{\"\":0}", "{\"a\":1,\"b\":2}",
            "{\"a\":1,\"A\":2}",
            "\"\"", "\" \"", "\"a\"", "\"\\\"\"", "\"\\\\\"", "\"\\/\"", "\"/\"", "\"\\b\\f\\n\\r\\t\"", "\"\\u0001\"",
            "\"\\u0041\"", "\"\\u00e9\"", "\"\\uD83D\\uDE00\"", "\"\\ud834\\udd1e\"", "\"\\uFFFF\"", "\"\\uFDD0\"",
            "\"\\u2028\\u2029\"", "\"é\"", "\"😀\"", "\"\u{7F}\"", "\"\u{2028}\"", "\"\u{FEFF}\"", "\"\u{10FFFF}\"",
            "\"\u{E000}\"", "\"asd\u{A0}\"", "\"[1,2]\"", "\"{\"", "\"//\"", "\"\\u005C\"", "\"new\u{A0}line\"",
            "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", "{\"a\":{\"b\":{\"c\":{\"d\":[{\"e\":null}]}}}}",
            "{\"a\":\"\\u0020x\",\"b\":1}", "[1 , 2]", "[\n]",
            "{\"é\":\"é\"}", "{\"\\u0061\":1}", "{\"a b\":1}", "[-1,-0.1,-1e1]", "[0,0,0]", "[1e1,1E1]", "\"\\t\"",
            "100000000000000000000e-10", "123.456e78", "-1.0",
        ]

    /// Texts that RFC 8259 does not allow.
    private static let invalid: [String] =
        [
            "", "-", "+1", "01", "-01", "00", "1.", ".5", "-.5", "1.e1", "1e", "1e+", "1E-", "1e1.5", "1.2.3", "0x1",
            "0b1", "1_0",
            "1a", "1 2", "--1", "- 1", "Infinity", "-Infinity", "NaN", "-NaN", "inf", "nan", "0e", "0e+", "1ea", "1.0e",
            "2.e3",
            "0.3e", "0.e1", "1 000", "１", "[", "]", "{", "[1", "[1,", "[,1]", "[1,]", "[1,,2]", "[,]", "[1 2]", "[1;2]",
            "[1:2]", "[]]", "[[]", "[}", "[1}", "[\"a\"", "[\"a]", "[a]", "['a']", "[*]", "[-]", "[1]x", "[x",
            "[1,\n1\n,1",
            "{a:1}", "{'a':1}", "{\"a\"}", "{\"a\":}", "{\"a\" 1}", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1,,\"b\":2}",
            "{:1}", "{1:1}", "{null:1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "{\"a\":1;\"b\":2}", "{\"a\",1}",
            "{\"a\":1]",
            "{\"a\":1", "{\"a\":\"b}", "{\"a\":1}}", "{\"a\":1}x", "{[]:1}", "{\"a\":1 1}", "{\"x\",null}", "{{}}",
            "\"", "\"a", "\"\\\"", "\"\\x41\"", "\"\\a\"", "\"\\u\"", "\"\\u1\"", "\"\\u12\"", "\"\\u123\"",
            "\"\\u123g\"",
            "\"\\U0041\"", "\"\\ \"", "\"\\'\"", "\"\\u{41}\"", "\"\\0\"", "\"\\v\"", "\"\u{01}\"", "\"\t\"", "\"\n\"",
            "\"\u{1F}\"", "\"a\u{08}\"", "'a'", "`a`", "a", "True", "FALSE", "Null", "nul", "nulll", "tru", "truee",
            "fals", "undefined",
            "<null>", "//1", "/**/1", "1/**/", "1//", "#1", "[1]//", "[1]/**/", "{/**/}", "{\"a\":/**/1}", "\u{FEFF}1",
            "\u{A0}1", "\u{2060}", "1\u{0C}", "\u{0B}1", "()", "(1)", "=1", "1,", ",", ":", "\\", "\\n",
            "\"\\uD800\\u\"",
            "\"\\uD800\\u1\"", "\"\\uD800\\u1x\"", "é", "\u{E5}", "*", "&", "[\u{0C}]", "[1\u{0B}]", "[\"\": 1]",
            "[\"x\", truth]", "{\"a\":nule}", "[ false, nul", "{\"asd\":\"asd\"", "[1e1,", "{} {}", "[][]", "1]", "1}",
            "\"a\" \"b\"", "\"a\"b", "[\"a\",\n4\n,1,", "[1,1,]", "{\"id\":0,}", "{\"id\":0,,}", "{}}", "[\"asd]",
            "[3[4]]",
            "[1,\u{FF}]",
        ]

    /// Bytes that are not UTF-8.
    private static let notUTF8: [[UInt8]] = [
        [0xFF], [0x80], [0xC3], [0xC0, 0xAF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98],
        [0xF4, 0x90, 0x80, 0x80],
        [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x80], [0xFE], [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80],
        [0xC3, 0x28],
    ]

    /// Valid JSON that some tracker could not store, or that readers would not read back unchanged.
    private static let refused: [(text: String, code: String)] = [
        ("\"\\u0000\"", "malformed-json"), ("{\"a\":1,\"a\":2}", "malformed-json"),
        ("{\"\\u0061\":1,\"a\":2}", "malformed-json"), ("{\"\\u0000\":1}", "malformed-json"), ("1e400", "out-of-range"),
        ("-1e400", "out-of-range"),
        ("123123e100000", "out-of-range"), ("0.4e00669999999999999999999", "out-of-range"),
        (String(repeating: "[", count: 70) + String(repeating: "]", count: 70), "too-deep"),
        (String(repeating: "[", count: 2000) + String(repeating: "]", count: 2000), "too-deep"),
    ]

    /// Lone surrogates, which the grammar allows but no Unicode text can contain; the parser itself refuses some of them.
    private static let halves = [
        "\"\\uD800\"", "\"\\uDC00\"", "\"\\uDE00\\uD83D\"", "\"\\uD800\\uD800\"", "\"\\uD800x\"", "\"x\\uDBFF\"",
    ]

    private static func event(_ value: [UInt8]) -> [UInt8] {
        Array(#"{"name":"Ping","context":{"x":"#.utf8) + value + Array("}}".utf8)
    }

    private static func answer(
        to body: [UInt8],
        _ type: String,
        from client: RawClient
    ) async throws -> RawClient.Response {
        let head = Requests.head(fields: "Content-Type: application/\(type)\r\nContent-Length: \(body.count)\r\n")
        try await client.send(bytes: Array(head.utf8) + body)
        return try await client.response()
    }

    @Test("valid JSON is accepted, as a document and as a line", .promise("unusual-input"))
    func taken() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for text in Self.valid {
                    let body = Self.event(Array(text.utf8))
                    let document = try await Self.answer(to: body, "json", from: client)
                    #expect(document.body == Requests.accepted, "\(text)")
                    guard !text.contains("\n") else { continue }
                    let line = try await Self.answer(to: body, "x-ndjson", from: client)
                    #expect(line.body == Requests.accepted, "\(text)")
                }
            }
        }
    }

    @Test("invalid JSON is 400 as a document, and one rejected event as a line", .promise("unusual-input"))
    func notTaken() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for value in Self.invalid.map({ Array($0.utf8) }) + Self.notUTF8
                    + Self.notUTF8.map({ [34] + $0 + [34] })
                {
                    let text = String(decoding: value, as: UTF8.self)
                    let body = Self.event(value)
                    let document = try await Self.answer(to: body, "json", from: client)
                    #expect(document.status == 400, "\(text)")
                    #expect(document.body.hasPrefix(#"{"error":{"code":"malformed-json""#), "\(text)")
                    guard !value.contains(10) else { continue }
                    let line = try await Self.answer(to: body, "x-ndjson", from: client)
                    #expect(line.status == 422, "\(text)")
                    #expect(try Answer(line.body).rejectedCodes == ["malformed-json": 1], "\(text)")
                }
            }
            #expect(server.pipeline.statistics.accepted == 0)
        }
    }

    @Test("JSON that cannot be stored unchanged is a rejected event, with the reason", .promise("unusual-input"))
    func rejected() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for (text, code) in Self.refused {
                    let response = try await Self.answer(to: Self.event(Array(text.utf8)), "json", from: client)
                    #expect(response.status == 422, "\(text)")
                    #expect(try Answer(response.body).rejectedCodes == [code: 1], "\(text)")
                }
            }
        }
    }

    @Test("a lone surrogate is never accepted")
    func surrogates() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for text in Self.halves {
                    let response = try await Self.answer(to: Self.event(Array(text.utf8)), "json", from: client)
                    #expect([400, 422].contains(response.status), "\(text)")
                    #expect(response.body.contains(#""code":"malformed-json""#), "\(text)")
                }
            }
            #expect(server.pipeline.statistics.accepted == 0)
        }
    }
}
