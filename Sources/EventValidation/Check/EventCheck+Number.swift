import EventModel
import JSONTape

extension EventCheck {
    mutating func encodeInteger(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let value: Int64
        switch tape.kind(at: index) {
        case .signed:
            value = tape.signed(at: index)
        case .unsigned:
            return reportRange(of: property)
        case .double:
            // 1.0 is an integer. What the double has rounded away, the text still tells.
            guard let exact = ExactDecimal(text: numberText(at: index)), exact.isWhole else {
                return reportType(at: index, of: property)
            }
            guard let whole = exact.int64 else { return reportRange(of: property) }
            value = whole
        default:
            return reportType(at: index, of: property)
        }
        if value < property.pointee.leastInteger || value > property.pointee.greatestInteger {
            reportRange(of: property)
        }
        output.append(value)
    }

    mutating func encodeNumber(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let value: Double
        switch tape.kind(at: index) {
        case .signed: value = Double(tape.signed(at: index))
        case .unsigned: value = Double(tape.unsigned(at: index))
        case .double: value = tape.double(at: index)
        default: return reportType(at: index, of: property)
        }
        if property.pointee.hasRange, value < property.pointee.leastNumber || value > property.pointee.greatestNumber {
            reportRange(of: property)
        }
        checkAllowed(property) { $0.contains(value) }
        output.appendScalar(at: index, of: tape)
    }

    /// Appends a decimal as a string, whichever way it came: the one form in which every reader keeps its digits.
    mutating func encodeDecimal(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let kind = tape.kind(at: index)
        guard kind == .string || kind.isNumber else { return reportType(at: index, of: property) }
        let sent = kind == .string ? tape.string(at: index) : numberText(at: index)
        guard let value = ExactDecimal(text: sent) else {
            return kind == .string ? reportOtherString(property) : reportType(at: index, of: property)
        }
        let length = value.textLength
        guard length <= sent.count + Self.maximumGrowth else { return reportExponent(of: property) }
        if property.pointee.hasRange, !plan.allows(value, as: property) { reportRange(of: property) }
        checkAllowed(property) { $0.contains(value) }
        output.appendQuoted(atMost: length) { value.write(to: $0) }
    }

    /// How many characters a number may have, written out, beyond those that were sent: else "1e999" makes a body grow a
    /// hundredfold.
    private static var maximumGrowth: Int { 64 }

    @inline(never)
    private mutating func reportExponent(of property: PropertyRules) {
        guard isDescribed(.outOfRange) else { return }
        let expected = "decimal, at most \(Self.maximumGrowth) digits of it from an exponent"
        report(.outOfRange, of: property, expected: expected, found: "more")
    }

    /// The number at `index` as it was written.
    private mutating func numberText(at index: Int) -> UnsafeRawBufferPointer {
        let numbers = numbers ?? NumberTokens(tape)
        self.numbers = numbers
        return numbers.text(at: index)
    }

    @inline(never)
    private mutating func reportRange(of property: PropertyRules) {
        guard isDescribed(.outOfRange) else { return }
        report(.outOfRange, of: property, expected: plan.rangeRule(of: property), found: "a value out of range")
    }
}
