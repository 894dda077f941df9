import EventModel
import TestCases
import Testing

@Suite("Exact decimals obey the laws of numbers")
struct ExactDecimalLawTests {
    static func numbers(_ count: Int, _ source: inout CaseSource) -> [String] {
        (0..<count).map { _ in
            switch source.number(0...3) {
            case 0: GeneratedText.decimal(&source)
            case 1: "\(source.number(-30...30))e\(source.number(-3...3))"
            case 2: "-0.\(source.number(0...3))\(String(repeating: "0", count: source.number(0...4)))"
            default: "\(source.number(-3...3)).\(source.number(0...30))"
            }
        }
    }

    @Test("reads and writes the same numbers as a simple reference implementation")
    func reading() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for text in Self.numbers(3000, &source) {
            let (number, wanted) = (ExactDecimal(text), ReferenceDecimal(text))
            #expect(number?.description == wanted?.text, "\(text), seed \(CaseSource.runSeed)")
            #expect(number.flatMap { ExactDecimal($0.description) } == number, "\(text), seed \(CaseSource.runSeed)")
            #expect(number?.int64 == wanted?.int64, "\(text), seed \(CaseSource.runSeed)")
            #expect(number?.isWhole == wanted?.isWhole, "\(text), seed \(CaseSource.runSeed)")
        }
    }

    @Test("numbers compare like their digits, and equal numbers have the same hash")
    func comparing() throws {
        var source = CaseSource(seed: CaseSource.runSeed)
        let numbers = Self.numbers(160, &source).compactMap { text in
            ReferenceDecimal(text).map { (text: text, reference: $0, number: ExactDecimal(text)) }
        }
        for left in numbers {
            for right in numbers {
                let (a, b) = (try #require(left.number), try #require(right.number))
                let order = left.reference.compared(to: right.reference)
                let isAlike = (a < b) == (order < 0) && (a == b) == (order == 0) && (a > b) == (order > 0)
                #expect(isAlike, "\(left.text) and \(right.text), seed \(CaseSource.runSeed)")
                if a == b { #expect(a.hashValue == b.hashValue, "\(left.text) and \(right.text)") }
            }
        }
    }

    @Test(
        "whole numbers at the limits of Int64",
        arguments: [
            ("9223372036854775807", .max), ("9223372036854775808", nil), ("-9223372036854775808", .min),
            ("-9223372036854775809", nil),
            ("9223372036854775807.0", .max), ("0.9223372036854775807e19", .max), ("1e18", 1_000_000_000_000_000_000),
            ("1e19", nil),
            ("0.5", nil), ("-0", 0), ("0.000", 0),
        ] as [(String, Int64?)]
    )
    func int64(text: String, value: Int64?) throws {
        #expect(try #require(ExactDecimal(text)).int64 == value)
    }
}
