@_spi(CanonicalJSON) import EventModel
import Foundation
@_spi(CanonicalJSON) import JSONTape
import TestCases
import Testing

@Suite("Writing JSON strings")
struct StringWritingTests {
    /// A text as JSON, and the problems found in it.
    static func written(_ bytes: [UInt8]) -> (text: [UInt8], problems: TextProblems) {
        withPadded(bytes) { text in
            var builder = ByteBuilder(capacity: 0)
            let problems = builder.appendString(text)
            return (Array(builder.bytes), problems)
        }
    }

    @Test("is read back by Foundation as the same text")
    func readBack() throws {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<2000 {
            // Foundation drops a U+FEFF at the beginning or after an escape.
            let codePoints = (0..<source.number(0...40)).map { _ in GeneratedText.codePoint(&source) }.filter {
                $0 != 0xFEFF
            }
            let text = String(codePoints: codePoints)
            let json = Self.written(Array(text.utf8)).text
            let array = try JSONSerialization.jsonObject(with: Data("[".utf8 + json + "]".utf8)) as? [String]
            #expect(array?.first?.unicodeScalars.map(\.value) == codePoints, "seed \(CaseSource.runSeed)")
        }
    }

    @Test("agrees with a simple reference writer, at every length and position")
    func everyPlace() {
        for length in 0..<20 {
            for place in 0..<max(1, length) {
                for codePoint: UInt32 in Array(0...0x22) + [0x5C, 0x7F, 0xE9, 0xD7FF, 0xE000, 0x10FFFF] where length > 0
                {
                    var codePoints = [UInt32](repeating: 0x61, count: length)
                    codePoints[place] = codePoint
                    let (text, problems) = Self.written(Array(String(codePoints: codePoints).utf8))
                    #expect(String(decoding: text, as: UTF8.self) == ReferenceWriter.string(codePoints))
                    #expect(problems == (codePoint == 0 ? .nul : []))
                }
            }
        }
    }

    @Test("reports half of a surrogate pair")
    func surrogates() {
        for length in 0..<10 {
            let before = [UInt8](repeating: 0x61, count: length)
            #expect(Self.written(before + [0xED, 0xA0, 0x80]).problems == .loneSurrogate)
            #expect(Self.written(before + [0xED, 0xBF, 0xBF, 0x62]).problems == .loneSurrogate)
            #expect(Self.written(before + [0xED, 0x9F, 0xBF]).problems == [])
            #expect(Self.written(before + [0x00, 0xED, 0xA0, 0x80]).problems == [.nul, .loneSurrogate])
        }
    }

    @Test("writes an empty string as two quotation marks")
    func empty() {
        #expect(Self.written([]).text == Array("\"\"".utf8))
    }
}
