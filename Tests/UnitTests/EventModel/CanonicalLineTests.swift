import EventModel
import Testing

@Suite struct CanonicalLineTests {
    private static let id = "0196f3c5-8a3e-7c42-9b1f-3d5e7a9c1b2d"
    private static let head =
        #"{"id":"\#(id)","name":"Item Purchased","time":"2010-12-01T08:26:00Z","receivedAt":"2025-05-01T10:00:00.123Z""#

    @Test("every field of the envelope is found")
    func allFields() throws {
        let text = Self.head + #","userId":"u","anonymousId":"a","sessionId":"s","context":{"x":1},"payload":{}}"#
        try withLine(text) { line in
            #expect(line.text(of: line.id) == Self.id)
            #expect(line.text(of: line.name) == "Item Purchased")
            #expect(line.text(of: line.time) == "2010-12-01T08:26:00Z")
            #expect(line.text(of: line.receivedAt) == "2025-05-01T10:00:00.123Z")
            #expect(line.userID.map(line.text) == "u")
            #expect(line.anonymousID.map(line.text) == "a")
            #expect(line.sessionID.map(line.text) == "s")
        }
    }

    @Test(
        "absent fields are nil, whatever the context and the payload contain",
        arguments: [
            (#","payload":{"userId":"p"}}"#, nil, nil, nil),
            (#","context":{"userId":"c","sessionId":"c"},"payload":{}}"#, nil, nil, nil),
            (#","userId":"u","payload":{}}"#, "u", nil, nil),
            (#","anonymousId":"a","payload":{}}"#, nil, "a", nil),
            (#","sessionId":"s","payload":{}}"#, nil, nil, "s"),
            (#","userId":"","sessionId":"s"}"#, "", nil, "s"),
            ("}", nil, nil, nil),
        ] as [(String, String?, String?, String?)]
    )
    func someFields(tail: String, user: String?, anonymous: String?, session: String?) throws {
        try withLine(Self.head + tail) { line in
            #expect(line.userID.map(line.text) == user)
            #expect(line.anonymousID.map(line.text) == anonymous)
            #expect(line.sessionID.map(line.text) == session)
        }
    }

    @Test(
        "escapes are resolved, and do not end a string early",
        arguments: [
            (#"a\"b"#, "a\"b"), (#"a\\"#, "a\\"), (#"\/\b\f\n\r\t"#, "/\u{8}\u{C}\n\r\t"), (#"Zo\u00eb"#, "Zoë"),
            (#"\ud83d\ude42!"#, "🙂!"), (#"\ud83d?"#, "\u{FFFD}?"), (#"\u12"#, #"\u12"#), ("日本", "日本"),
            (#"12345678\\\"12345678"#, #"12345678\"12345678"#),
        ]
    )
    func escapes(raw: String, text: String) throws {
        try withLine(Self.head + #","userId":"\#(raw)","payload":{}}"#) { line in
            #expect(line.userID.map(line.text) == text)
        }
    }

    @Test("a field without escapes is not copied")
    func noCopy() throws {
        try withLine(Self.head + #","userId":"u-1","payload":{}}"#) { line in
            let field = try #require(line.userID)
            let start = line.rawText(of: field).baseAddress
            #expect(line.withText(of: field) { $0.baseAddress == start })
        }
    }

    @Test("a line that is cut anywhere in its envelope is nil, and does not trap")
    func everyCut() {
        let text = Self.head + #","userId":"u-1\n"}"#
        let envelope = Self.head.utf8.count
        for length in 0..<text.utf8.count {
            let isLine = isLine(Array(text.utf8.prefix(length)))
            #expect(!isLine || length > envelope, "cut to \(length) bytes")
        }
        #expect(isLine(Array(text.utf8)))
    }

    @Test("arbitrary bytes are nil, or a line whose ranges are within it")
    func anyBytes() {
        var random = SystemRandomNumberGenerator()
        let text = Array((Self.head + #","userId":"u-1","anonymousId":"a\\","sessionId":"s","payload":{}}"#).utf8)
        for _ in 0..<20_000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[.random(in: 0..<bytes.count, using: &random)] =
                    [0x22, 0x5C, 0x2C, .random(in: 0...255)]
                    .randomElement(using: &random) ?? 0
            }
            bytes.withUnsafeBytes { buffer in
                guard let line = CanonicalLine(buffer) else { return }
                let fields = [
                    line.id, line.name, line.time, line.receivedAt, line.userID, line.anonymousID, line.sessionID,
                ]
                for field in fields.compactMap({ $0 }) {
                    #expect(field.upperBound < buffer.count)
                    _ = line.text(of: field)
                }
            }
        }
    }

    private func isLine(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { CanonicalLine($0) != nil }
    }

    private func withLine(_ text: String, _ body: (CanonicalLine) throws -> Void) throws {
        try Array(text.utf8).withUnsafeBytes { try body(try #require(CanonicalLine($0))) }
    }
}
