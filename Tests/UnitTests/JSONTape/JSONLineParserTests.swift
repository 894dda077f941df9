@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape
import TestCases
import Testing

@Suite("Lines parsed together")
struct JSONLineParserTests {
    /// The result of each line when all lines are parsed together; `nil` if it is not an object.
    private static func together(_ text: [UInt8], by parser: inout JSONLineParser) -> [String?] {
        withPadded(text) { text in
            guard parser.index(text) else { return ranges(of: Array(text)).map { alone(text[$0]) } }
            return ranges(of: Array(text)).map { line in
                parser.parse(line).map { tape in
                    var builder = ByteBuilder(capacity: 0)
                    tape.appendValue(at: tape.root, to: &builder)
                    return String(decoding: builder.bytes, as: UTF8.self) + (tape.hasEscapes ? " escaped" : "")
                }
            }
        }
    }

    private static func alone(_ line: some Sequence<UInt8>) -> String? {
        let bytes = Array(line)
        return (try? rewritten(bytes)).flatMap { $0.hasPrefix("{") ? $0 : nil }.map {
            $0 + (bytes.contains(UInt8(ascii: "\\")) ? " escaped" : "")
        }
    }

    private static func ranges(of text: [UInt8]) -> [Range<Int>] {
        var start = 0
        return text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            defer { start += line.count + 1 }
            return start..<start + line.count
        }
    }

    @Test(
        "do not affect each other, whatever one leaves open",
        arguments: [
            #"{"a":[{}⏎{}]}⏎{},{}"#, #"{"a":⏎1}⏎{}"#, #"{⏎}"#, #"{}⏎[⏎]⏎{}"#, #"{}⏎{"a":[1,⏎2]}"#, #"{}{}⏎⏎{}"#,
            #"{"a":"b⏎c"}"#, #"{"a":"b⏎","c":"d"}⏎{}"#, #"{"a":"b\⏎"}⏎{"c":1}"#, #"{}⏎"a"⏎5⏎null⏎{}"#, #"{}⏎5 5⏎{}"#,
            #"{}⏎{}}⏎{}"#, #"{⏎{⏎{⏎}⏎}⏎}"#, #"{"a":[[[[⏎{}"#, #"{"a":{"b":{"c":1}⏎{"a":1}"#, #"{}⏎{"a":{}"#, #"{}⏎,{}"#,
            #"{"a":"\u0041"}⏎{"a":"b"}⏎{"a":"\n"}"#, #"{}⏎{"a":1}⏎{"a":01}⏎{"a":2}"#, #" ⏎{}"#, #"{},⏎{}"#,
            "{}⏎\u{1}⏎{}",
        ]
    )
    func neighbours(text: String) {
        let bytes = Array(text.replacing("⏎", with: "\n").utf8)
        var parser = JSONLineParser()
        let alone = Self.ranges(of: bytes).map { Self.alone(bytes[$0]) }
        #expect(Self.together(bytes, by: &parser) == alone)
    }

    @Test("show their structure before they are parsed, unless they have an escape or nothing at all")
    func structure() {
        let bytes = Array(#"{"a" :1 }⏎⏎ ⏎{"b":"\n"}⏎{"c":{"d":"e f"},"g":[]}"#.replacing("⏎", with: "\n").utf8)
        var parser = JSONLineParser()
        withPadded(bytes) { text in
            guard parser.index(text) else {
                Issue.record("the lines have a structure")
                return
            }
            let lines = Self.ranges(of: bytes)
            let found = lines.map { parser.structure(of: $0) }
            #expect(found.map { $0 != nil } == [true, false, false, false, true])
            guard let first = found[0], let last = found[4] else { return }
            #expect(first.key(at: 1).map(Array.init) == Array("a".utf8))
            #expect(Array(first.value(at: 3)) == Array("1".utf8))
            #expect(first.end(ofValueAt: 0) == 5 && first.ends(before: 5) && !first.ends(before: 4))
            #expect(first.key(at: 3) == nil && first.string(at: 3) == nil)
            #expect(last.end(ofValueAt: 3) == 8 && last.ends(before: 14) && last.byte(at: 14) == 0)
            #expect(last.string(at: 6).map(Array.init) == Array("e f".utf8))
            #expect(Array(last.text(from: 3, to: 8)) == Array(#"{"d":"e f"}"#.utf8))
            #expect(last.bytes(from: 14) == nil && last.value(at: 13).isEmpty)
        }
    }

    @Test("have the same result as when parsed alone, whatever they contain")
    func agreement() {
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\n", "\n", " ", "1", "-2.5e3", "true", "\"a\"", "\"a\":", "{}",
            "[]",
            "{\"a\":1}", "{\"a\":1}\n", "{\"b\":\"\\n\"}\n", "{\"c\":[1,{\"d\":null}]}\n", "é", "\r",
        ]
        var source = CaseSource(seed: CaseSource.runSeed)
        var parser = JSONLineParser()
        for _ in 0..<20_000 {
            let count = source.number(0...24)
            var text = (0..<count).map { _ in source.pick(pieces) }.joined()
            if source.once(in: 2) { text = "{\"first\":0}\n" + text + "\n{\"last\":9}" }
            let bytes = Array(text.utf8)
            let alone = Self.ranges(of: bytes).map { Self.alone(bytes[$0]) }
            #expect(Self.together(bytes, by: &parser) == alone, "\(text), seed \(CaseSource.runSeed)")
        }
    }
}
