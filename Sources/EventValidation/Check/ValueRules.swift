@_spi(CanonicalJSON) import EventModel
import EventSchema
import PatternMatching

/// A property of the plan, by reference, because it is too large to copy for each value.
typealias PropertyRules = UnsafePointer<CompiledPlan.Property>

/// The rules for values, and what is said of a value that breaks one.
///
/// `EventCheck` applies them to values that arrive as JSON, and `PayloadEncoder` to Swift values. The compiler specialises the
/// functions for both. Everything that reports a violation is not inlined, so that it does not slow down valid events.
protocol ValueRules: ~Copyable {
    var plan: CompiledPlan { get }
    /// The number of open objects and arrays, including the event itself.
    var depth: Int { get set }

    /// Records that the event broke a rule.
    ///
    /// - Returns: Whether to describe the violation. If not, do not spend time on a description: an event must not take longer
    ///   to check because it is invalid.
    mutating func isDescribed(_ code: VerdictCode) -> Bool

    /// Records a violation at the current place in the event.
    mutating func report(_ code: VerdictCode, expected: String, found: String, location: PlanLocation?)

    /// Records a violation of a property's rules by the current value.
    mutating func report(_ code: VerdictCode, of property: PropertyRules, expected: String, found: String)
}

extension EventCheck: ValueRules {}
extension PayloadEncoder: ValueRules {}

// MARK: - Numbers

extension ValueRules where Self: ~Copyable {
    @inline(__always)
    mutating func checkRange(of value: Int64, as property: PropertyRules) {
        if value < property.pointee.leastInteger || value > property.pointee.greatestInteger {
            reportRange(of: property)
        }
    }

    @inline(__always)
    mutating func checkRange(of value: Double, as property: PropertyRules) {
        if value < property.pointee.leastNumber || value > property.pointee.greatestNumber {
            reportRange(of: property)
        }
    }

    @inline(__always)
    mutating func checkRange(of value: ExactDecimal, as property: PropertyRules) {
        if property.pointee.hasRange { checkLimits(of: value, as: property) }
    }

    @inline(never)
    private mutating func checkLimits(of value: ExactDecimal, as property: PropertyRules) {
        guard let limits = plan.decimalLimits[property.pointee.index] else { return }
        let isTooSmall = limits.least.map { value < $0 } ?? false
        let isTooLarge = limits.greatest.map { value > $0 } ?? false
        if isTooSmall || isTooLarge { reportRange(of: property) }
    }

    @inline(never)
    mutating func reportRange(of property: PropertyRules) {
        guard isDescribed(.outOfRange) else { return }
        let definition = plan.definitions[property.pointee.index]
        let least = definition.minimum.map { "at least \($0.text)" }
        let greatest = definition.maximum.map { "at most \($0.text)" }
        let limits = [least, greatest].compactMap(\.self).joined(separator: " and ")
        let range = property.pointee.type == .number ? " within the range of a double" : " of 64 bits"
        let expected = property.pointee.type.rawValue + (limits.isEmpty ? range : ", " + limits)
        report(.outOfRange, of: property, expected: expected, found: "a value out of range")
    }
}

// MARK: - Strings

extension ValueRules where Self: ~Copyable {
    /// Checks the length of a string in code points, and its pattern.
    @inline(__always)
    mutating func checkText(_ text: UnsafeRawBufferPointer, as property: PropertyRules) {
        if property.pointee.hasLength, !property.pointee.isValidLength(ofBytes: text.count) {
            checkLength(of: text, as: property)
        }
        if property.pointee.pattern >= 0, !matchesPattern(text, of: property) { reportMismatch(of: property) }
    }

    @inline(never)
    private mutating func checkLength(of text: UnsafeRawBufferPointer, as property: PropertyRules) {
        // Each code point has exactly one byte that does not continue another.
        let length = text.reduce(into: 0) { $0 += $1 & 0xC0 == 0x80 ? 0 : 1 }
        if length > property.pointee.greatestLength {
            guard isDescribed(.tooLong) else { return }
            let expected = "at most \(property.pointee.greatestLength) characters"
            report(.tooLong, of: property, expected: expected, found: "\(length) characters")
        } else if length < property.pointee.leastLength {
            guard isDescribed(.tooShort) else { return }
            let expected = "at least \(property.pointee.leastLength) characters"
            report(.tooShort, of: property, expected: expected, found: "\(length) characters")
        }
    }

    @inline(__always)
    private func matchesPattern(_ text: UnsafeRawBufferPointer, of property: PropertyRules) -> Bool {
        guard let steps = property.pointee.plainPattern else { return matchesExpression(text, of: property) }
        return PlainPattern.matches(text, steps: steps)
    }

    @inline(never)
    private func matchesExpression(_ text: UnsafeRawBufferPointer, of property: PropertyRules) -> Bool {
        plan.patterns[property.pointee.pattern].matches(text)
    }

    @inline(never)
    private mutating func reportMismatch(of property: PropertyRules) {
        guard isDescribed(.patternMismatch) else { return }
        let source = plan.patterns[property.pointee.pattern].source
        report(.patternMismatch, of: property, expected: "a match of \(source)", found: "another string")
    }

    /// Reports characters that some readers do not accept, in the string that was just encoded.
    @inline(never)
    mutating func report(_ problems: TextProblems) {
        guard isDescribed(.malformedJSON) else { return }
        if problems.contains(.nul) {
            let expected = "text without NUL characters"
            report(.malformedJSON, expected: expected, found: "a string with one", location: nil)
        }
        if problems.contains(.loneSurrogate) {
            let found = "a string with half of a surrogate pair"
            report(.malformedJSON, expected: "Unicode text", found: found, location: nil)
        }
    }
}

extension CompiledPlan.Property {
    /// Whether a string of this many bytes has a valid length whatever it contains: a code point takes 1 to 4 bytes.
    @inline(__always)
    fileprivate func isValidLength(ofBytes count: Int) -> Bool {
        count <= greatestLength && (count + 3) / 4 >= leastLength
    }
}

// MARK: - Enumerations, types, presence and nesting

extension ValueRules where Self: ~Copyable {
    /// Reports a value that the property's enumeration does not have.
    @inline(never)
    mutating func reportNotInEnum(of property: PropertyRules, found: @autoclosure () -> String) {
        guard isDescribed(.notInEnum) else { return }
        let allowed = property.pointee.enumeration.map { table in
            "one of " + (0..<min(table.count, 10)).map { table.text(of: $0) }.joined(separator: ", ")
                + (table.count > 10 ? ", … (\(table.count) values)" : "")
        }
        report(.notInEnum, of: property, expected: allowed ?? property.pointee.type.rawValue, found: found())
    }
    /// Reports a value of another type.
    @inline(never)
    mutating func reportType(of property: PropertyRules, found: String) {
        guard isDescribed(.wrongType) else { return }
        let type =
            switch property.pointee.type {
            case .timestamp: "an RFC 3339 date-time"
            case .date: "an RFC 3339 full-date"
            case .uuid: "a UUID (RFC 9562)"
            case .decimal: "a decimal number, or one in a string, of at most \(ExactDecimal.maximumDigits) digits"
            case .any: "any value"
            default: property.pointee.type.rawValue
            }
        let expected = property.pointee.isNullable ? type + " or null" : type
        report(.wrongType, of: property, expected: expected, found: found)
    }

    /// Reports that a required property is missing.
    @inline(never)
    mutating func reportMissing(_ property: PropertyRules) {
        report(.missingRequired, of: property, expected: property.pointee.type.rawValue, found: "nothing")
    }

    /// Enters an object or array; false, with a violation, if it would be nested too deeply.
    @inline(__always)
    mutating func descend() -> Bool {
        guard depth < EventLimits.maximumDepth else {
            reportDepth()
            return false
        }
        depth += 1
        return true
    }

    @inline(never)
    mutating func reportDepth() {
        guard isDescribed(.tooDeep) else { return }
        report(.tooDeep, expected: EventLimits.depthInWords, found: "more", location: nil)
    }
}
