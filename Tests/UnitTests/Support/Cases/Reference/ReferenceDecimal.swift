/// A simple decimal: its digits and the position of the point.
package struct ReferenceDecimal {
    package private(set) var isNegative: Bool
    /// The text that `ExactDecimal` must write: the whole part without leading zeros, and all digits of the fraction.
    package private(set) var whole: String
    package private(set) var fraction: String

    /// Reads a number in JSON's grammar; `nil` for other text, and for more than 1,000 digits including those of the exponent.
    package init?(_ text: String) {
        guard case .value(.number) = Self.parse(text) else { return nil }
        var rest = Substring(text)
        isNegative = rest.first == "-"
        if isNegative { rest.removeFirst() }
        let parts = rest.split(whereSeparator: { $0 == "e" || $0 == "E" })
        let mantissa = parts[0].split(separator: ".")
        whole = String(mantissa[0])
        fraction = mantissa.count == 2 ? String(mantissa[1]) : ""
        var exponent = parts.count == 2 ? Int(parts[1]) ?? .max : 0
        // Zero remains zero with any exponent.
        if exponent.magnitude > 10_000, (whole + fraction).allSatisfy({ $0 == "0" }) { exponent = 0 }
        guard exponent.magnitude <= 10_000 else { return nil }
        for _ in 0..<max(0, exponent) {
            whole.append(fraction.isEmpty ? "0" : fraction.removeFirst())
        }
        for _ in 0..<max(0, -exponent) {
            fraction = String(whole.popLast() ?? "0") + fraction
        }
        whole = String(whole.drop { $0 == "0" })
        if whole.isEmpty { whole = "0" }
        guard whole.count + fraction.count <= 1000 else { return nil }
        if (whole + fraction).allSatisfy({ $0 == "0" }) { isNegative = false }
    }

    private static func parse(_ text: String) -> ReferenceParser.Outcome {
        guard text.first != " ", text.last != " ", !text.contains(where: \.isNewline), !text.contains("\t") else {
            return .malformed
        }
        return ReferenceParser.parse(Array(text.utf8))
    }

    package var text: String { (isNegative ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction) }
    package var isWhole: Bool { fraction.allSatisfy { $0 == "0" } }
    package var int64: Int64? { isWhole ? Int64((isNegative ? "-" : "") + whole) : nil }

    /// -1, 0 or 1: compares both with the same number of digits on either side of the point.
    package func compared(to other: ReferenceDecimal) -> Int {
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        let wholeLength = max(whole.count, other.whole.count)
        let fractionLength = max(fraction.count, other.fraction.count)
        func padded(_ decimal: ReferenceDecimal) -> String {
            String(repeating: "0", count: wholeLength - decimal.whole.count) + decimal.whole
                + decimal.fraction + String(repeating: "0", count: fractionLength - decimal.fraction.count)
        }
        let (left, right) = (padded(self), padded(other))
        let order = left == right ? 0 : left < right ? -1 : 1
        return isNegative ? -order : order
    }
}
