import EventModel
import EventValidation
import TestCases
import Testing

@Suite("Text")
struct TextTests {
    let validator = EventValidator.sample()

    @Test(
        "with a NUL character is malformed wherever it is stored",
        arguments: [
            (Sent.ping(#","userId":"\u0000""#), "$.userId"),
            (Sent.ping(#","anonymousId":"a\u0000b""#), "$.anonymousId"),
            (Sent.ping(#","sessionId":"01234567\u0000""#), "$.sessionId"),
            (Sent.ping(#","context":{"a":["\u0000"]}"#), "$.context.a[0]"),
            (Sent.ping(#","context":{"a\u0000":1}"#), "$.context['a\\u0000']"),
            (Sent.purchase(#","bag":{"\u0000":"\u0001"}"#), "$.payload.bag['\\u0000']"),
            (Sent.purchase(#","extra":"\u0000""#), "$.payload.extra"),
            (Sent.purchase(#","lines":[{"name":"\u0000"}]"#), "$.payload.lines[0].name"),
            (Sent.open(#""more":"\u0000""#), "$.payload.more"),
            (Sent.open(#""\u0000":1"#), "$.payload['\\u0000']"),
        ]
    )
    func nul(event: String, path: String) throws {
        let verdict = ["malformed-json \(path): text without NUL characters / a string with one"]
        #expect(try validator.verdict(of: event) == verdict)
    }

    @Test("with a NUL character is not a valid id, time, name, key, UUID, date or decimal")
    func nulElsewhere() throws {
        #expect(
            try validator.check(Sent.ping(#","id":"0190a2b4-0000-7000-8000-00000000000\u0000""#)).verdicts == [
                ["invalid-id $.id"]
            ]
        )
        #expect(
            try validator.check(Sent.ping(#","time":"2010-12-01T08:26:00Z\u0000""#)).verdicts == [
                ["invalid-time $.time"]
            ]
        )
        #expect(try validator.check(#"{"name":"Ping\u0000"}"#).verdicts == [["unknown-event $.name"]])
        #expect(
            try validator.check(Sent.purchase(#","gift\u0000":true"#)).verdicts == [
                ["unplanned-property $.payload['gift\\u0000']"]
            ]
        )
        #expect(
            try validator.check(Sent.purchase(#","day":"2010-12-0\u0000""#)).verdicts == [["wrong-type $.payload.day"]]
        )
    }

    @Test(
        "with half of a surrogate pair is malformed",
        arguments: [
            #"\ud800"#, #"\udbffx"#, #"\udc00"#, #"\udc00\ud800"#, #"\ud800\ud800"#, #"\ud83d\u0041"#, #"\ud83d\n"#,
        ]
    )
    func loneSurrogate(text: String) throws {
        for event in [Sent.ping(",\"userId\":\"\(text)\""), Sent.ping(",\"context\":{\"\(text)\":1}")] {
            #expect(throws: MalformedBody.self) { _ = try validator.check(event) }
            let inArray = try validator.check("[\(Sent.ping()),\(event),\(Sent.ping())]")
            let asLine = try validator.check("\(Sent.ping())\n\(event)\n\(Sent.ping())", as: .lines)
            for checked in [inArray, asLine] {
                #expect(checked.verdicts == [["malformed-json $"]])
                #expect(checked.rejections.map(\.index) == [1] && checked.lines.count == 2)
            }
        }
    }

    @Test("with surrogate pairs is decoded")
    func surrogatePair() throws {
        #expect(
            try validator.payload(of: Sent.open(#""x":"\ud83d\ude00\uD800\uDC00\udbff\udfff""#))
                == "{\"x\":\"😀\u{10000}\u{10FFFF}\"}"
        )
    }

    @Test(
        "that is not UTF-8 affects only its own event",
        arguments: [
            [0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0x80],
        ] as [[UInt8]]
    )
    func invalidUTF8(bytes: [UInt8]) throws {
        let good = Array(Sent.ping().utf8)
        let bad = Array(#"{"name":"Ping","userId":""#.utf8) + bytes + Array(#""}"#.utf8)
        let error = #expect(throws: MalformedBody.self) { _ = try validator.check(bytes: bad) }
        #expect(error?.violation.summary == "malformed-json $: JSON (RFC 8259) / bytes that are not UTF-8")
        let array = Array("[".utf8) + good + Array(",".utf8) + bad + Array(",".utf8) + good + Array("]".utf8)
        let lines = good + Array("\n".utf8) + bad + Array("\n".utf8) + good
        for checked in [try validator.check(bytes: array), try validator.check(bytes: lines, as: .lines)] {
            #expect(checked.summary == ["malformed-json $: JSON (RFC 8259) / bytes that are not UTF-8"])
            #expect(checked.rejections.map(\.original) == [bad])
            #expect(checked.lines.count == 2)
        }
    }

    @Test(
        "is written with the fewest escapes",
        arguments: [
            (#"\u0022\u005c\u002f\/"#, #"\"\\//"#),
            (#"\u0008\u0009\u000a\u000c\u000d"#, #"\b\t\n\f\r"#),
            (#"\u0001\u000b\u000E\u001f\u0020"#, #"\u0001\u000b\u000e\u001f "#),
            ("\\u007f\u{7F}", "\u{7F}\u{7F}"),
            ("\\u2028\u{2028}\\u2029", "\u{2028}\u{2028}\u{2029}"),
            ("\u{E9}\\u00E9e\\u0301", "\u{E9}\u{E9}e\u{301}"),
            ("😀\\ud83d\\ude00", "😀😀"),
            ("\\uFEFF\\uFFFD\\uFFFF", "\u{FEFF}\u{FFFD}\u{FFFF}"),
            ("\u{D7FF}\\ud7ff\\ue000", "\u{D7FF}\u{D7FF}\u{E000}"),
        ]
    )
    func escapes(sent: String, canonical: String) throws {
        // At each position in a word of eight bytes, and after other escapes.
        for padding in 0..<9 {
            let before = String(repeating: "a", count: padding)
            let payload = try validator.payload(of: Sent.open("\"x\":\"\(before)\(sent)b\""))
            #expect(Array(payload.utf8) == Array("{\"x\":\"\(before)\(canonical)b\"}".utf8))
        }
    }

    @Test("has its control characters escaped, so that an event remains one line")
    func controls() throws {
        let text = (1..<0x20).map { "\\u00" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let line = try #require(try validator.check(Sent.ping(",\"userId\":\"\(text)\"")).lines.first)
        #expect(line.utf8.allSatisfy { $0 >= 0x20 })
        let bare = "\"\u{1F}\""
        #expect(throws: MalformedBody.self) { _ = try validator.check(Sent.ping(",\"userId\":\(bare)")) }
    }

    @Test(
        "is measured in code points",
        arguments: [
            ("12345678", []), ("éééééééé", []), ("😀😀😀😀😀😀😀😀", []), (#"\ud83d\ude00x"#, []),
            ("123456789", ["too-long $.payload.sku"]), ("😀", ["too-short $.payload.sku"]),
            ("", ["too-short $.payload.sku"]),
            ("e\u{301}e\u{301}e\u{301}e\u{301}", []), ("e\u{301}e\u{301}e\u{301}e\u{301}e", ["too-long $.payload.sku"]),
        ]
    )
    func length(text: String, verdict: [String]) throws {
        let event = "{\"name\":\"Item Purchased\",\"payload\":{\"sku\":\"\(text)\",\"quantity\":1,\"price\":1}}"
        #expect(try validator.check(event).verdicts == (verdict.isEmpty ? [] : [verdict]))
    }
}
