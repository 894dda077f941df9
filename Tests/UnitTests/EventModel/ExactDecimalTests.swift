import EventModel
import Testing

@Suite("Exact decimals")
struct ExactDecimalTests {
    @Test("are ordered by value")
    func order() throws {
        let ascending = [
            "-1e999", "-12.5", "-12", "-0.10001", "-0.1", "0", "1e-999", "0.09", "0.1", "0.10000000000000000000001",
            "9.99", "10", "9007199254740993", "9007199254740993.5", "1e400",
        ]
        let numbers = try ascending.map { try #require(ExactDecimal($0)) }
        for (left, number) in numbers.enumerated() {
            for (right, other) in numbers.enumerated() {
                #expect((number < other) == (left < right))
                #expect((number == other) == (left == right))
            }
        }
    }

    @Test("are equal whatever their trailing zeros and exponents")
    func equality() {
        #expect(ExactDecimal("2.5") == ExactDecimal("2.500"))
        #expect(ExactDecimal("2.5") == ExactDecimal("25e-1"))
        #expect(ExactDecimal("2.5") == ExactDecimal("0.0025E+3"))
        #expect(ExactDecimal("-0.00") == ExactDecimal("0e5"))
        #expect(ExactDecimal("100") == ExactDecimal("1e2"))
        #expect(ExactDecimal("100")?.significantDigits == 1)
        #expect(ExactDecimal("0.1050")?.significantDigits == 3)
    }

    @Test(
        "text that is not a JSON number is nil",
        arguments: ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "1 ", " 1", "1,5", "nan", "1e1000", "--1"]
    )
    func refused(text: String) {
        #expect(ExactDecimal(text) == nil)
    }

    @Test("leading zeros of an exponent are ignored")
    func paddedExponents() {
        #expect(ExactDecimal("1e000000000002")?.description == "100")
        #expect(ExactDecimal("1E-00000001")?.description == "0.1")
        #expect(ExactDecimal("5e0000000000")?.description == "5")
    }

    @Test("have at most 1,000 digits")
    func length() {
        #expect(ExactDecimal(String(repeating: "9", count: 1000)) != nil)
        #expect(ExactDecimal(String(repeating: "9", count: 1001)) == nil)
    }
}
