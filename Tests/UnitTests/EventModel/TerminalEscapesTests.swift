import EventModel
import Testing

@Suite("Terminal escapes")
struct TerminalEscapesTests {
    private static func escaped(_ text: String, keepingLines: Bool = false) -> String {
        var bytes: [UInt8] = []
        TerminalEscapes.append(text.utf8, keepingLines: keepingLines, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "control characters, line separators and direction marks are escaped, and no other character"
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

    @Test("invalid UTF-8 is replaced, so that no terminal receives a control character in it")
    func bytes() {
        for byte in UInt8(0x80)...0xFF {
            var bytes: [UInt8] = []
            TerminalEscapes.append([UInt8(ascii: "a"), byte, UInt8(ascii: "b")], to: &bytes)
            #expect(bytes == Array("a\u{FFFD}b".utf8), "0x\(String(byte, radix: 16))")
        }
    }

    @Test("line feeds and tabs are kept if lines are wanted, and nothing else")
    func lines() {
        #expect(Self.escaped("a\n\tb\r\u{1B}", keepingLines: true) == "a\n\tb\\u000d\\u001b")
        #expect(Self.escaped("a\n\tb") == #"a\u000a\u0009b"#)
    }
}
