@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape
import TestCases
import Testing

@Suite("The JSON parser")
struct JSONParserTests {
    @Test(
        "reports the kind of error",
        arguments: [
            ("", .empty), (" \n\t", .empty), ("{", .syntax), ("[1,]", .syntax), ("[1 2]", .syntax), ("nul", .syntax),
            ("[1]x", .syntax),
            ("\"a", .string), ("\"\\x\"", .string), ("\"\u{1}\"", .string), ("\"\\ud800\"", .string),
            ("\"\\udc00x\"", .string),
            ("01", .number), ("-", .number), ("[1e400,01]", .number), ("[1e400,1.]", .number), ("[1e400 2]", .syntax),
            ("[18446744073709551616", .syntax), ("[18446744073709551616,\"]", .string),
        ] as [(String, JSONError)]
    )
    func errors(text: String, error: JSONError) {
        #expect(throws: error) { _ = try rewritten(text.utf8) }
    }

    @Test(
        "keeps numbers beyond 64 bits, and beyond doubles, as they were written",
        arguments: [
            "1e400", "-1E+400", "18446744073709551616", "-9223372036854775809", String(repeating: "7", count: 2000),
            #"{"1e400":"1e400","a":[18446744073709551616,1,{"b":"\"1e400"},-1e999],"c":18446744073709551615}"#,
            #"[1e400,"18446744073709551616",18446744073709551616,true]"#,
        ]
    )
    func oversized(text: String) throws {
        #expect(try rewritten(text.utf8) == text)
        #expect(try NumberTokensTests.tokens(Array(text.utf8)).allSatisfy { text.contains($0) && !$0.isEmpty })
    }

    @Test("accepts 1,024 levels, and reports more")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(try rewritten(nested(1023).utf8) == nested(1023))
        #expect(throws: JSONError.depth) { _ = try rewritten(nested(1025).utf8) }
    }

    @Test(
        "refuses bytes that are not UTF-8",
        arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3]] as [[UInt8]]
    )
    func encoding(bytes: [UInt8]) {
        #expect(throws: JSONError.encoding) { _ = try rewritten(Array("\"".utf8) + bytes + Array("\"".utf8)) }
    }

    @Test("reads values, and nothing of the previous text")
    func reuse() throws {
        var parser = JSONParser()
        for text in [
            #"{"a":[1,{"b":"c"}],"d":null}"#, "5", "[[],{},\"\",true,false,-1.5]", #"{"a":18446744073709551615}"#,
        ] {
            #expect(throws: JSONError.self) { try withPadded("[\(text)".utf8) { _ = try parser.parse($0) } }
            let copy = try withPadded(text.utf8) { bytes in
                let tape = try parser.parse(bytes)
                var builder = ByteBuilder(capacity: 0)
                tape.appendValue(at: tape.root, to: &builder)
                return String(decoding: builder.bytes, as: UTF8.self)
            }
            #expect(copy == text)
        }
    }

    @Test("agrees with a second parser about what is JSON, and about the values")
    func agreement() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<1500 {
            var text = SentText.of(GeneratedEvent.free(&source, depth: 0), allowsNewlines: true, &source)
            if source.once(in: 3) { text = EventMutation.damage(text, &source) }
            let copy = try? rewritten(text)
            switch ReferenceParser.parse(text) {
            case .value(let value): #expect(copy == ReferenceWriter.value(value), "\(text), seed \(CaseSource.runSeed)")
            default: #expect(copy == nil, "\(text), seed \(CaseSource.runSeed)")
            }
        }
    }
}
