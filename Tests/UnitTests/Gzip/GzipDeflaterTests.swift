import Gzip
import TestCases
import Testing

@Suite("Compressing to gzip")
struct GzipDeflaterTests {
    private static let texts: [[UInt8]] = [
        [], [0], Array("one\n".utf8), Array((0..<20_000).map { "line \($0 * 7919 % 10_007)\n" }.joined().utf8),
        // What cannot be compressed grows.
        (0..<100_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) },
    ]

    @Test("what was compressed inflates to the same bytes, also after another member", arguments: texts.indices)
    func roundTrip(index: Int) throws {
        let text = Self.texts[index]
        let member = try GzipDeflater.compress(text)
        #expect(try GzipInflater.inflated(member) == text)
        #expect(try GzipInflater.inflated(member + member) == text + text)
    }

    @Test("repeated text becomes shorter")
    func shorter() throws {
        let text = Self.texts[3]
        #expect(try GzipDeflater.compress(text).count < text.count / 2)
    }
}
