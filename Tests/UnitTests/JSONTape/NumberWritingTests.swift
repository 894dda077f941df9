@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape
import TestCases
import Testing

@Suite("Writing JSON numbers")
struct NumberWritingTests {
    /// The number of significant digits: without sign, point, exponent, and zeros at either end.
    static func significantDigits(_ text: String) -> Int {
        let mantissa = text.prefix { $0 != "e" }.filter { $0.isNumber }
        let digits = mantissa.drop { $0 == "0" }
        return digits.count - digits.reversed().prefix { $0 == "0" }.count
    }

    static func expectShortest(_ value: Double) {
        let text = written(value)
        #expect(Double(text) == value, "\(text) for \(value), seed \(CaseSource.runSeed)")
        #expect(significantDigits(text) == significantDigits(value.description), "\(text) for \(value)")
        #expect(!text.hasSuffix(".0") && !text.hasPrefix("."), "\(text)")
    }

    @Test("gives the shortest text that reads back as the same double, for arbitrary bits")
    func anyBits() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<4000 {
            let value = Double(bitPattern: source.next())
            if value.isFinite { Self.expectShortest(value) }
        }
    }

    @Test("gives the shortest text that reads back as the same double, near short decimals")
    func nearShort() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<3000 {
            var scale = 1.0
            for _ in 0..<source.number(0...8) { scale *= 10 }
            let whole = Double(source.number(-1_000_000_000...1_000_000_000)) * (source.once(in: 3) ? 1_000_000 : 1)
            let value = whole / scale
            for neighbour in [value, value.nextUp, value.nextDown] { Self.expectShortest(neighbour) }
        }
    }

    @Test("gives a text that reads back as the same double, at the limits and powers of ten")
    func edges() {
        for value in [Double.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, .pi, .ulpOfOne] {
            Self.expectShortest(value)
            Self.expectShortest(-value)
        }
        for exponent in -30...30 {
            if let value = Double("1e\(exponent)") {
                for neighbour in [value, value.nextUp, value.nextDown] { Self.expectShortest(neighbour) }
            }
        }
    }

    @Test(
        "gives whole numbers no fraction, and zero no sign",
        arguments: [
            (0, "0"), (-0.0, "0"), (1, "1"), (-1, "-1"), (1e14, "100000000000000"), (1e15, "1000000000000000"),
            (9_007_199_254_740_991, "9007199254740991"), (-2.50, "-2.5"), (0.1, "0.1"), (-0.000001, "-0.000001"),
            (0.05, "0.05"),
            (123_456.789012, "123456.789012"),
        ] as [(Double, String)]
    )
    func texts(value: Double, text: String) {
        #expect(written(value) == text)
    }

    @Test(
        "gives all digits of whole numbers",
        arguments: [
            0, 1, 9, 10, 99, 100, -1, -10, .max, .min, 1_000_000_000_000_000_000, 999_999_999_999_999_999,
        ] as [Int64]
    )
    func whole(value: Int64) {
        var builder = ByteBuilder(capacity: 0)
        builder.append(value)
        builder.append(value.magnitude)
        #expect(String(decoding: builder.bytes, as: UTF8.self) == "\(value)\(value.magnitude)")
    }

    @Test("gives all digits of whole numbers greater than Int64")
    func unsigned() throws {
        #expect(
            try rewritten("[18446744073709551615,9223372036854775808]".utf8)
                == "[18446744073709551615,9223372036854775808]"
        )
    }
}
