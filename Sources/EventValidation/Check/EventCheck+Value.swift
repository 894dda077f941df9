import EventModel
import EventSchema
import JSONTape
import PatternMatching

extension EventCheck {
    /// Checks the value at `index` against a property, and appends it in its canonical form.
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
            output.appendScalar(at: index, of: tape)
        case .decimal: return encodeDecimal(at: index, as: property, into: &output)
        case .timestamp: return encodeTimestamp(at: index, as: property, into: &output)
        case .date: encodeDate(at: index, as: property, into: &output)
        case .uuid: encodeUUID(at: index, as: property, into: &output)
        case .array: encodeArray(at: index, as: property, into: &output)
        case .object:
            guard kind == .object else { return reportType(at: index, of: property) }
            if property.pointee.object < 0 {
                encodeFree(at: index, into: &output)
            } else {
                encodeObject(at: index, as: property.pointee.object, into: &output)
            }
        case .any: encodeFree(at: index, into: &output)
        }
        if let enumeration = property.pointee.enumeration, output.count > start {
            checkEnumeration(enumeration, from: start, of: property, in: &output)
        }
    }

    func isString(at index: Int) -> Bool { tape.kind(at: index) == .string }

    @inline(never)
    mutating func reportType(at index: Int, of property: PropertyRules) {
        guard isDescribed(.wrongType) else { return }
        report(.wrongType, of: property, expected: plan.typeRule(of: property), found: kindName(at: index))
    }

    private mutating func checkEnumeration(
        _ enumeration: ByteTable,
        from start: Int,
        of property: PropertyRules,
        in output: inout ByteBuilder
    ) {
        output.reserve(8)
        let value = UnsafeRawBufferPointer(rebasing: output.bytes[start...])
        if enumeration.ordinal(of: value) < 0 {
            reportNotInEnum(of: property)
        }
    }

    /// Holds a value against an enumeration that text cannot decide.
    @inline(__always)
    mutating func checkAllowed(_ property: PropertyRules, contains: (AllowedValues) -> Bool) {
        guard property.pointee.enumeration != nil else { return }
        if let allowed = plan.allowedValues[property.pointee.index], !contains(allowed) {
            reportNotInEnum(of: property)
        }
    }

    @inline(never)
    mutating func reportNotInEnum(of property: PropertyRules) {
        guard isDescribed(.notInEnum) else { return }
        let allowed = property.pointee.enumeration.map { table in
            (0..<min(table.count, 10)).map { table.text(of: $0) }.joined(separator: ", ")
                + (table.count > 10 ? ", … (\(table.count) values)" : "")
        }
        let found = "another \(property.pointee.type.rawValue)"
        report(.notInEnum, of: property, expected: "one of \(allowed ?? "")", found: found)
    }

    @inline(__always)
    private mutating func encodeText(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        encodeString(at: index, into: &output)
        if property.pointee.hasLength, !property.pointee.isSafeLength(tape.string(at: index).count) {
            checkLength(at: index, of: property)
        }
        if property.pointee.pattern >= 0 { checkPattern(at: index, of: property) }
    }

    @inline(never)
    private mutating func checkLength(at index: Int, of property: PropertyRules) {
        guard let problem = property.pointee.lengthProblem(of: tape.string(at: index)) else { return }
        guard isDescribed(problem.code) else { return }
        let (expected, found) = problem.description
        report(problem.code, of: property, expected: expected, found: found)
    }

    @inline(never)
    private mutating func checkPattern(at index: Int, of property: PropertyRules) {
        guard !plan.matchesPattern(tape.string(at: index), of: property), isDescribed(.patternMismatch) else { return }
        let source = plan.patterns[property.pointee.pattern].source
        report(.patternMismatch, of: property, expected: "a match of \(source)", found: "another string")
    }

    private mutating func encodeTimestamp(
        at index: Int,
        as property: PropertyRules,
        into output: inout ByteBuilder
    ) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        guard let time = timeReader.read(tape.string(at: index)) else { return reportOtherString(property) }
        checkAllowed(property) { $0.contains(time) }
        output.appendQuoted(atMost: Timestamp.maximumTextLength) { time.write(to: $0) }
    }

    private mutating func encodeDate(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        guard CalendarDate(text: tape.string(at: index)) != nil else { return reportOtherString(property) }
        encodeString(at: index, into: &output)
    }

    private mutating func encodeUUID(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard isString(at: index) else { return reportType(at: index, of: property) }
        guard let id = EventID(text: tape.string(at: index)) else { return reportOtherString(property) }
        output.appendQuoted(atMost: EventID.textLength) { bytes in
            id.write(to: bytes)
            return EventID.textLength
        }
    }

    @inline(never)
    mutating func reportOtherString(_ property: PropertyRules) {
        guard isDescribed(.wrongType) else { return }
        report(.wrongType, of: property, expected: plan.typeRule(of: property), found: "another string")
    }

    private mutating func encodeArray(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        guard tape.kind(at: index) == .array else { return reportType(at: index, of: property) }
        guard property.pointee.items >= 0 else { return encodeFree(at: index, into: &output) }
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
