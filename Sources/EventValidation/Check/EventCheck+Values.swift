@_spi(CanonicalJSON) import EventModel
import EventSchema
@_spi(CanonicalJSON) import JSONTape

extension EventCheck {
    /// Checks the value at `index` against a property, and appends it in canonical form.
    mutating func encodeValue(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let kind = tape.kind(at: index)
        if kind == .null {
            if property.pointee.isNullable {
                output.append("null")
            } else {
                reportType(at: index, of: property)
            }
            return
        }
        let start = output.count
        switch property.pointee.type {
        case .string: encodeText(at: index, as: property, into: &output)
        case .integer: encodeInteger(at: index, as: property, into: &output)
        case .number: return encodeNumber(at: index, as: property, into: &output)
        case .boolean:
            guard kind == .true || kind == .false else { return reportType(at: index, of: property) }
            tape.appendScalar(at: index, to: &output)
        case .decimal: return encodeDecimal(at: index, as: property, into: &output)
        case .timestamp: return encodeTimestamp(at: index, as: property, into: &output)
        case .date: encodeDate(at: index, as: property, into: &output)
        case .uuid: encodeUUID(at: index, as: property, into: &output)
        case .array: encodeArray(at: index, as: property, into: &output)
        case .object:
            guard kind == .object else { return reportType(at: index, of: property) }
            if property.pointee.object < 0 {
                encodeFreeForm(at: index, into: &output)
            } else {
                encodeObject(at: index, as: property.pointee.object, into: &output)
            }
        case .any: encodeFreeForm(at: index, into: &output)
        }
        checkEnumeration(of: property, from: start, in: &output)
    }

    func isString(at index: Int) -> Bool { tape.kind(at: index) == .string }

    @inline(never)
    private mutating func reportType(at index: Int, of property: PropertyRules) {
        reportType(of: property, found: kindName(at: index))
    }

    @inline(never)
    private mutating func reportOtherString(_ property: PropertyRules) {
        reportType(of: property, found: "another string")
    }

    private mutating func encodeArray(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard tape.kind(at: index) == .array else { return reportType(at: index, of: property) }
        guard property.pointee.items >= 0 else { return encodeFreeForm(at: index, into: &output) }
        guard descend() else { return }
        let items = tables.properties + property.pointee.items
        let contents = tape.contents(of: index)
        var element = contents.lowerBound
        var position = 0
        output.append(UInt8(ascii: "["))
        while element < contents.upperBound {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            path.push(.index(position))
            encodeValue(at: element, as: items, into: &output)
            path.pop()
            element = tape.end(of: element)
            position += 1
        }
        output.append(UInt8(ascii: "]"))
        depth -= 1
    }
}

// MARK: - Numbers

extension EventCheck {
    private mutating func encodeInteger(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let value: Int64
        switch tape.kind(at: index) {
        case .signed:
            value = tape.signed(at: index)
        case .unsigned:
            return reportRange(of: property)
        case .double:
            // 1.0 is an integer. The text has the digits that the double has lost.
            guard let exact = ExactDecimal(text: numberText(at: index)) else {
                return tape.double(at: index).isNaN ? reportRange(of: property) : reportType(at: index, of: property)
            }
            guard exact.isWhole else { return reportType(at: index, of: property) }
            guard let whole = exact.int64 else { return reportRange(of: property) }
            value = whole
        default:
            return reportType(at: index, of: property)
        }
        checkRange(of: value, as: property)
        output.append(value)
    }

    private mutating func encodeNumber(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let value: Double
        switch tape.kind(at: index) {
        case .signed: value = Double(tape.signed(at: index))
        case .unsigned: value = Double(tape.unsigned(at: index))
        case .double:
            value = tape.nearestDouble(at: index)
            guard value.isFinite else { return reportRange(of: property) }
        default: return reportType(at: index, of: property)
        }
        checkRange(of: value, as: property)
        checkAllowed(property) { $0.contains(value) }
        // A number beyond 64 bits has the form of a double.
        if tape.kind(at: index) == .double { output.append(value) } else { tape.appendScalar(at: index, to: &output) }
    }

    /// Appends a decimal, which may arrive as a number or as a string, as a string: the form in which every reader keeps all its
    /// digits.
    private mutating func encodeDecimal(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let kind = tape.kind(at: index)
        guard kind == .string || kind.isNumber else { return reportType(at: index, of: property) }
        let sent = kind == .string ? tape.string(at: index) : numberText(at: index)
        encodeDecimal(sent, isString: kind == .string, as: property, into: &output)
    }

    mutating func encodeDecimal(
        _ sent: UnsafeRawBufferPointer,
        isString: Bool,
        as property: PropertyRules,
        into output: inout ByteBuilder
    ) {
        guard let value = ExactDecimal(text: sent) else {
            return isString ? reportOtherString(property) : reportLength(of: property)
        }
        guard value.textLength <= sent.count + Self.maximumGrowth else { return reportExponent(of: property) }
        checkRange(of: value, as: property)
        checkAllowed(property) { $0.contains(value) }
        output.appendQuoted(value)
    }

    /// How many characters longer than it was sent a number may be without its exponent: otherwise "1e999" would let a body grow
    /// a hundredfold.
    private static var maximumGrowth: Int { 64 }

    @inline(never)
    private mutating func reportLength(of property: PropertyRules) {
        guard isDescribed(.outOfRange) else { return }
        let expected = "decimal of at most \(ExactDecimal.maximumDigits) digits"
        report(.outOfRange, of: property, expected: expected, found: "more")
    }

    @inline(never)
    private mutating func reportExponent(of property: PropertyRules) {
        guard isDescribed(.outOfRange) else { return }
        let expected = "decimal whose exponent adds at most \(Self.maximumGrowth) digits"
        report(.outOfRange, of: property, expected: expected, found: "more")
    }

    /// The number at `index` as it was sent.
    mutating func numberText(at index: Int) -> UnsafeRawBufferPointer {
        let numbers = numbers ?? NumberTokens(tape)
        self.numbers = numbers
        return numbers.text(at: index)
    }
}

// MARK: - Strings

extension EventCheck {
    @inline(__always)
    private mutating func encodeText(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        encodeString(at: index, into: &output)
        checkText(tape.string(at: index), as: property)
    }

    private mutating func encodeTimestamp(
        at index: Int,
        as property: PropertyRules,
        into output: inout ByteBuilder
    ) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        encodeTimestamp(tape.string(at: index), as: property, into: &output)
    }

    mutating func encodeTimestamp(
        _ text: UnsafeRawBufferPointer,
        as property: PropertyRules,
        into output: inout ByteBuilder
    ) {
        guard let time = timeReader.read(text) else { return reportOtherString(property) }
        checkAllowed(property) { $0.contains(time) }
        output.appendQuoted(time)
    }

    private mutating func encodeDate(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        encodeDate(tape.string(at: index), as: property, into: &output)
    }

    mutating func encodeDate(
        _ text: UnsafeRawBufferPointer,
        as property: PropertyRules,
        into output: inout ByteBuilder
    ) {
        guard let date = CalendarDate(text: text) else { return reportOtherString(property) }
        output.appendQuoted(date)
    }

    private mutating func encodeUUID(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        encodeUUID(tape.string(at: index), as: property, into: &output)
    }

    mutating func encodeUUID(
        _ text: UnsafeRawBufferPointer,
        as property: PropertyRules,
        into output: inout ByteBuilder
    ) {
        guard let id = EventID(text: text) else { return reportOtherString(property) }
        output.appendQuoted(id)
    }
}

// MARK: - Enumerations

extension EventCheck {
    /// Checks the value that was appended from `start` on, if there is one.
    @inline(__always)
    mutating func checkEnumeration(of property: PropertyRules, from start: Int, in output: inout ByteBuilder) {
        guard let enumeration = property.pointee.enumeration, output.count > start else { return }
        output.reserve(8)
        checkEnumeration(enumeration, UnsafeRawBufferPointer(rebasing: output.bytes[start...]), of: property)
    }

    /// Checks a value in canonical form; at least 8 more bytes after it must be readable.
    mutating func checkEnumeration(
        _ enumeration: ByteTable,
        _ value: UnsafeRawBufferPointer,
        of property: PropertyRules
    ) {
        if enumeration.ordinal(of: value) < 0 { reportNotInEnum(of: property) }
    }

    /// Checks a value against an enumeration whose values cannot be compared as text.
    @inline(__always)
    mutating func checkAllowed(_ property: PropertyRules, contains: (AllowedValues) -> Bool) {
        guard property.pointee.enumeration != nil else { return }
        if let allowed = plan.allowedValues[property.pointee.index], !contains(allowed) {
            reportNotInEnum(of: property)
        }
    }

    @inline(never)
    private mutating func reportNotInEnum(of property: PropertyRules) {
        reportNotInEnum(of: property, found: "another \(property.pointee.type.rawValue)")
    }
}
