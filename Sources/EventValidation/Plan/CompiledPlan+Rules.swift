import EventModel
import EventSchema
import JSONTape
import PatternMatching

// What both checks of a value ask: of one that came as JSON, and of one that came as a Swift value.
extension CompiledPlan {
    /// What the plan wants where a value of another type stands.
    func typeRule(of property: UnsafePointer<Property>) -> String {
        let type =
            switch property.pointee.type {
            case .timestamp: "an RFC 3339 date-time"
            case .date: "an RFC 3339 full-date"
            case .uuid: "a UUID (RFC 9562)"
            case .decimal: "a decimal number, or one in a string, of at most \(ExactDecimal.maximumDigits) digits"
            case .any: "any value"
            default: property.pointee.type.rawValue
            }
        return property.pointee.isNullable ? type + " or null" : type
    }

    /// What the plan wants of a number that is out of range.
    func rangeRule(of property: UnsafePointer<Property>) -> String {
        let definition = definitions[property.pointee.index]
        let least = definition.minimum.map { "at least \($0.text)" }
        let greatest = definition.maximum.map { "at most \($0.text)" }
        let limits = [least, greatest].compactMap(\.self).joined(separator: " and ")
        let rule = limits.isEmpty ? " of 64 bits" : ", " + limits
        return property.pointee.type.rawValue + rule
    }

    /// Whether a decimal is within its property's limits.
    func allows(_ value: ExactDecimal, as property: UnsafePointer<Property>) -> Bool {
        guard let limits = decimalLimits[property.pointee.index] else { return true }
        if let least = limits.least, value < least { return false }
        if let greatest = limits.greatest, value > greatest { return false }
        return true
    }

    /// Whether a text contains a match of its property's pattern.
    func matchesPattern(_ text: UnsafeRawBufferPointer, of property: UnsafePointer<Property>) -> Bool {
        if let steps = property.pointee.plainPattern { return steps.match(text) }
        return patterns[property.pointee.pattern].matches(text)
    }
}

/// A text that is longer or shorter than its property allows, in code points.
struct LengthProblem {
    let code: VerdictCode
    let limit: Int
    let length: Int

    /// What the plan wants, and what was found.
    var description: (expected: String, found: String) {
        ("at \(code == .tooLong ? "most" : "least") \(limit) characters", "\(length) characters")
    }
}

extension CompiledPlan.Property {
    /// Whether so many bytes are a length within the limits whatever they spell: a code point takes 1 to 4 of them.
    @inline(__always)
    func isSafeLength(_ bytes: Int) -> Bool {
        bytes <= greatestLength && (bytes + 3) / 4 >= leastLength
    }

    /// What is wrong with the length of a text, if anything is.
    @inline(never)
    func lengthProblem(of text: UnsafeRawBufferPointer) -> LengthProblem? {
        // A code point has one byte that does not continue another.
        let length = text.reduce(into: 0) { $0 += $1 & 0xC0 == 0x80 ? 0 : 1 }
        if length > greatestLength { return LengthProblem(code: .tooLong, limit: greatestLength, length: length) }
        if length < leastLength { return LengthProblem(code: .tooShort, limit: leastLength, length: length) }
        return nil
    }
}
