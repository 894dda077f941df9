import EventModel
import Testing

@Suite("What a terminal would obey")
struct TerminalEscapesTests {
    private static func escaped(_ text: String, keepingLines: Bool = false) -> String {
        var bytes: [UInt8] = []
        TerminalEscapes.append(text.utf8, keepingLines: keepingLines, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "every control character, separator of lines and mark of direction is escaped, and every other character stays"
    )
    func scalars() {
        for value in UInt32(0)...0x30FF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let category = scalar.properties.generalCategory
            let isObeyed =
                category == .control || category == .lineSeparator || category == .paragraphSeparator
                || scalar.properties.isBidiControl
            let text = Self.escaped("a\(scalar)b")
            #expect(isObeyed == (text != "a\(scalar)b"), "U+\(String(value, radix: 16))")
            if isObeyed { #expect(text.utf8.count == 8) }
        }
    }

    @Test("bytes that are not UTF-8 are replaced, and no terminal gets one that it might obey")
    func bytes() {
        for byte in UInt8(0x80)...0xFF {
            var bytes: [UInt8] = []
            TerminalEscapes.append([UInt8(ascii: "a"), byte, UInt8(ascii: "b")], to: &bytes)
            #expect(bytes == Array("a\u{FFFD}b".utf8), "0x\(String(byte, radix: 16))")
        }
    }

    @Test("line feeds and tabs stay where lines are wanted, and nothing else does")
    func lines() {
        #expect(Self.escaped("a\n\tb\r\u{1B}", keepingLines: true) == "a\n\tb\\u000d\\u001b")
        #expect(Self.escaped("a\n\tb") == #"a\u000a\u0009b"#)
    }
}
