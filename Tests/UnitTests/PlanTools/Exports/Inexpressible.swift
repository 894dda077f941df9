import EventSchema
import TestCases

/// Rules of the validator that no schema can express: the only reasons for which the two may differ.
enum Inexpressible: String, CaseIterable {
    case repeatedKey = "a key comes twice"
    case depth = "it nests beyond 64 levels"
    case digits = "a number has more digits than a double, or is nearer to zero"
    case exponent = "an exponent of a decimal is beyond 64"
    case decimalInString = "a decimal in a string has limits, or allowed values and an exponent"
    case moment = "a timestamp has allowed values"
    case calendar = "an offset moves a timestamp out of the calendar"

    /// The reasons that apply to an event.
    static func reasons(in text: [UInt8], _ plan: TrackingPlan) -> [Inexpressible] {
        switch ReferenceParser.parse(text) {
        case .malformed: return []
        case .value(let event):
            var search = Search()
            search.look(at: event, depth: 1)
            if case .object(let members) = event { search.look(at: members, of: plan) }
            return search.found
        }
    }

    private struct Search {
        var found: [Inexpressible] = []

        mutating func look(at value: ReferenceJSON, depth: Int) {
            switch value {
            case .object(let members):
                if depth > 64 { found.append(.depth) }
                let keys = Set(members.map(\.key))
                if keys.count < members.count { found.append(.repeatedKey) }
                for member in members { look(at: member.value, depth: depth + 1) }
            case .array(let elements):
                if depth > 64 { found.append(.depth) }
                for element in elements { look(at: element, depth: depth + 1) }
            case .number(let digits):
                let count = significantDigits(digits)
                if count > 15 || count > 0 && Double(digits) == 0 { found.append(.digits) }
            case .string(let text):
                let start = String(codePoints: Array(text.prefix(10)))
                if ["0001-01-01", "9999-12-31"].contains(start) { found.append(.calendar) }
            case .null, .boolean: break
            }
        }

        private func significantDigits(_ number: String) -> Int {
            let mantissa = number.prefix { $0 != "e" && $0 != "E" }.filter(\.isNumber)
            return mantissa.drop { $0 == "0" }.reversed().drop { $0 == "0" }.count
        }

        mutating func look(at members: [ReferenceMember], of plan: TrackingPlan) {
            func field(_ name: String) -> ReferenceJSON? {
                members.first { $0.key == name.unicodeScalars.map(\.value) }?.value
            }
            let event = plan.events.first { field("name") == .text($0.name) }
            if let event, case .object(let payload) = field("payload") { look(at: payload, of: event.properties) }
        }

        private mutating func look(at members: [ReferenceMember], of properties: [PropertyDefinition]) {
            for property in properties {
                let key = property.name.unicodeScalars.map(\.value)
                for member in members where member.key == key { look(at: member.value, of: property) }
            }
        }

        private mutating func look(at value: ReferenceJSON, of property: PropertyDefinition) {
            switch (property.type, value) {
            case (.object, .object(let members)): look(at: members, of: property.properties ?? [])
            case (.array, .array(let elements)):
                guard let items = property.items else { return }
                for element in elements { look(at: element, of: items) }
            case (.decimal, .number(let digits)):
                if abs(exponent(of: digits)) > 64 { found.append(.exponent) }
            case (.decimal, .string(let text)):
                let text = String(codePoints: text)
                if abs(exponent(of: text)) > 64 { found.append(.exponent) }
                let hasLimits = property.minimum != nil || property.maximum != nil
                if hasLimits || property.enumeration != nil && text.lowercased().contains("e") {
                    found.append(.decimalInString)
                }
            case (.timestamp, .string) where property.enumeration != nil: found.append(.moment)
            default: break
            }
        }

        private func exponent(of number: String) -> Int {
            let parts = number.lowercased().split(separator: "e")
            return parts.count == 2 ? Int(parts[1]) ?? 0 : 0
        }
    }
}
