import EventModel
package import EventSchema

extension ReferenceCheck {
    /// The canonical form of a value that is not an object or array; `nil` if it does not have the property's type.
    package mutating func scalar(_ value: ReferenceJSON, of property: PropertyDefinition, at place: Place) -> String? {
        switch (property.type, value) {
        case (.boolean, .boolean(let truth)): return truth ? "true" : "false"
        case (.string, .string(let text)): return self.text(text, of: property, at: place)
        case (.integer, .number(let text)): return integer(text, of: property, at: place)
        case (.number, .number(let text)): return number(text, of: property, at: place)
        case (.decimal, .number(let text)): return decimal(text, isNumber: true, of: property, at: place)
        case (.decimal, .string(let text)):
            return decimal(String(codePoints: text), isNumber: false, of: property, at: place)
        case (.timestamp, .string(let text)): return timestamp(String(codePoints: text), of: property, at: place)
        case (.date, .string(let text)): return date(String(codePoints: text), of: property, at: place)
        case (.uuid, .string(let text)): return uuid(String(codePoints: text), of: property, at: place)
        default: return nil
        }
    }

    private mutating func report(_ code: String, _ property: PropertyDefinition, _ place: Place) {
        report(code, place.path, property.location)
    }

    private mutating func text(_ text: [UInt32], of property: PropertyDefinition, at place: Place) -> String {
        if let limit = property.maxLength, text.count > limit { report("too-long", property, place) }
        if let limit = property.minLength, text.count < limit { report("too-short", property, place) }
        if let pattern = property.pattern.flatMap({ ReferencePattern(rawValue: $0) }), !pattern.matches(text) {
            report("pattern-mismatch", property, place)
        }
        // Compares code points, because Swift's equality treats canonically equivalent texts as equal.
        if let allowed = property.enumeration,
            !allowed.contains(where: { $0.referenceText?.unicodeScalars.map(\.value) == text })
        {
            report("not-in-enum", property, place)
        }
        return string(text, at: place.path)
    }

    private mutating func integer(_ text: String, of property: PropertyDefinition, at place: Place) -> String? {
        guard let exact = ReferenceDecimal(text) else {
            // More than 1,000 digits: whole, or beyond the range of a double.
            let isWhole = text.allSatisfy { $0.isNumber || $0 == "-" }
            guard isWhole || Double(text)?.isFinite != true else { return nil }
            report("out-of-range", property, place)
            return ""
        }
        guard exact.isWhole else { return nil }
        guard let value = exact.int64 else {
            report("out-of-range", property, place)
            return ""
        }
        let isBelow = property.minimum.map { value < $0.referenceInteger } ?? false
        let isAbove = property.maximum.map { value > $0.referenceInteger } ?? false
        if isBelow || isAbove { report("out-of-range", property, place) }
        if let allowed = property.enumeration, !allowed.contains(.integer(value)) {
            report("not-in-enum", property, place)
        }
        return String(value)
    }

    private mutating func number(_ text: String, of property: PropertyDefinition, at place: Place) -> String? {
        guard let value = Double(text) else { return nil }
        guard value.isFinite else {
            report("out-of-range", property, place)
            return ""
        }
        let isBelow = property.minimum.map { value < $0.referenceNumber } ?? false
        let isAbove = property.maximum.map { value > $0.referenceNumber } ?? false
        if isBelow || isAbove { report("out-of-range", property, place) }
        if let allowed = property.enumeration, !allowed.contains(where: { $0.referenceNumber == value }) {
            report("not-in-enum", property, place)
        }
        return ReferenceWriter.double(text)
    }

    private mutating func decimal(
        _ text: String,
        isNumber: Bool,
        of property: PropertyDefinition,
        at place: Place
    ) -> String? {
        guard let value = ReferenceDecimal(text) else {
            if isNumber { report("out-of-range", property, place) }
            return isNumber ? "" : nil
        }
        if value.text.count > text.count + 64 {
            report("out-of-range", property, place)
            return ""
        }
        func order(_ limit: PlanValue) -> Int { limit.referenceDecimal.map(value.compared(to:)) ?? 0 }
        if let minimum = property.minimum, order(minimum) < 0 { report("out-of-range", property, place) }
        if let maximum = property.maximum, order(maximum) > 0 { report("out-of-range", property, place) }
        if let allowed = property.enumeration, !allowed.contains(where: { order($0) == 0 }) {
            report("not-in-enum", property, place)
        }
        return "\"" + value.text + "\""
    }

    private mutating func timestamp(_ text: String, of property: PropertyDefinition, at place: Place) -> String? {
        guard let time = ReferenceTime(text) else { return nil }
        let allowed = property.enumeration?.compactMap { $0.referenceText.flatMap(ReferenceTime.init) }
        if let allowed, !allowed.contains(where: { $0.microseconds == time.microseconds }) {
            report("not-in-enum", property, place)
        }
        return "\"" + time.text + "\""
    }

    private mutating func date(_ text: String, of property: PropertyDefinition, at place: Place) -> String? {
        guard ReferenceCalendar.day(of: text) != nil else { return nil }
        if let allowed = property.enumeration, !allowed.contains(.string(text)) {
            report("not-in-enum", property, place)
        }
        return "\"" + text + "\""
    }

    private mutating func uuid(_ text: String, of property: PropertyDefinition, at place: Place) -> String? {
        guard let id = Self.uuid(text) else { return nil }
        if let allowed = property.enumeration, !allowed.contains(.string(id)) { report("not-in-enum", property, place) }
        return "\"" + id + "\""
    }
}

/// The patterns that generated plans use, each with a Swift function that does the same.
package enum ReferencePattern: String, CaseIterable {
    case lowerCase = "^[a-z]+$"
    case hasDigit = "[0-9]"
    case beginsWithA = "^a"
    case atMostFour = "^[^\\n]{0,4}$"

    package func matches(_ text: [UInt32]) -> Bool {
        switch self {
        case .lowerCase: !text.isEmpty && text.allSatisfy { (0x61...0x7A).contains($0) }
        case .hasDigit: text.contains { (0x30...0x39).contains($0) }
        case .beginsWithA: text.first == 0x61
        case .atMostFour: text.count <= 4 && !text.contains(0x0A)
        }
    }
}

extension PlanValue {
    package var referenceInteger: Int64 { if case .integer(let value) = self { value } else { 0 } }
    package var referenceNumber: Double { if case .number(let value) = self { value } else { 0 } }
    package var referenceText: String? { if case .string(let value) = self { value } else { nil } }
    package var referenceDecimal: ReferenceDecimal? { referenceText.flatMap(ReferenceDecimal.init) }
}
