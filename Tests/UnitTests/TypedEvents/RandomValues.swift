import EventModel
import GoldenShapes
import TestCases

/// Random values of every type of typed events.
struct RandomValues {
    var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &random) < probability }

    mutating func maybe<Value>(_ make: (inout RandomValues) -> Value) -> Value? { chance(0.5) ? make(&self) : nil }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    mutating func list<Value>(_ make: (inout RandomValues) -> Value) -> [Value] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in make(&self) }
    }

    mutating func string() -> String {
        let length = pick([0, 1, 3, 7, 8, 9, 15, 16, 17, 40, 200])
        let alphabet: [Unicode.Scalar] = [
            "a", "Z", "0", " ", "\"", "\\", "\n", "\t", "\u{1}", "\u{7F}", "é", "訂", "🎉", "\u{D7FF}", "/",
        ]
        let plain = chance(0.5)
        return String(String.UnicodeScalarView((0..<length).map { _ in plain ? "x" : pick(alphabet) }))
    }

    mutating func integer() -> Int {
        pick([0, 1, -1, 9, 10, 99, 100, .max, .min, Int.random(in: .min ... .max, using: &random)])
    }

    mutating func number() -> Double {
        let any = Double(bitPattern: random.next())
        return pick([0, -0.0, 1, 2.55, -17.25, 1e300, .leastNonzeroMagnitude, .pi, any.isFinite ? any : 0.1])
    }

    mutating func decimal() throws -> ExactDecimal {
        let digits = String(random.next() % 1_000_000_000)
        let text = pick(["0", "-0.50", "1.00", digits, "-" + digits, "0." + digits, digits + digits + "." + digits])
        guard let value = ExactDecimal(text) else { throw NotDecimal(text: text) }
        return value
    }

    mutating func timestamp() -> Timestamp {
        Timestamp(
            microseconds: Int64.random(in: -62_135_596_800_000_000...253_402_300_799_999_999, using: &random),
            fractionDigits: UInt8.random(in: 0...6, using: &random)
        )
    }

    mutating func date() -> CalendarDate {
        CalendarDate(daysSince1970: Int32.random(in: -719_162...2_932_896, using: &random))
    }

    mutating func uuid() -> EventID { EventID(high: random.next(), low: random.next()) }

    mutating func json(depth: Int = 3) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
        case 0: .boolean(chance(0.5))
        case 1: .integer(Int64(integer()))
        case 2: .number(number())
        case 3: .string(string())
        case 4: depth < 3 ? .null : .string("top")
        case 5: .array(list { $0.json(depth: depth - 1) })
        default: .object(members(depth: depth - 1))
        }
    }

    mutating func members(depth: Int = 2) -> [String: JSONValue] {
        Dictionary(list { ($0.string(), $0.json(depth: depth)) }) { first, _ in first }
    }

    struct NotDecimal: Error {
        let text: String
    }
}
