package import EventSchema

extension ReferenceCheck {
    /// The location of a value: its path in the event, its depth, and its location in the plan.
    package struct Place {
        package var path: String
        package var level: Int
        package var location: PlanLocation

        package func key(_ key: [UInt32], _ location: PlanLocation) -> Place {
            Place(path: path + ReferenceWriter.step(key), level: level + 1, location: location)
        }

        package func index(_ index: Int, _ location: PlanLocation) -> Place {
            Place(path: path + "[\(index)]", level: level + 1, location: location)
        }
    }

    /// The level of an object or array; the event itself is level 1.
    private mutating func isTooDeep(_ level: Int, _ path: String) -> Bool {
        if level > 64 { report("too-deep", path) }
        return level > 64
    }

    // MARK: Values in the plan

    package mutating func object(
        _ members: [ReferenceMember],
        of properties: [PropertyDefinition],
        isOpen: Bool,
        at place: Place
    ) -> String {
        if isTooDeep(place.level, place.path) { return "" }
        // An undeclared key is not reported as a duplicate, too.
        let planned = properties.map { $0.name.unicodeScalars.map(\.value) }
        reportDuplicates(isOpen ? members : members.filter { planned.contains($0.key) }, at: place.path)
        var parts: [String] = []
        for property in properties {
            let key = property.name.unicodeScalars.map(\.value)
            let inner = place.key(key, property.location)
            if let member = members.first(where: { $0.key == key }) {
                parts.append(ReferenceWriter.string(key) + ":" + value(member.value, of: property, at: inner))
            } else if property.isRequired {
                report("missing-required", inner.path, property.location)
            }
        }
        for member in members where !planned.contains(member.key) {
            let path = place.path + ReferenceWriter.step(member.key)
            if isOpen {
                parts.append(string(member.key, at: path) + ":" + free(member.value, at: path, level: place.level + 1))
            } else {
                report("unplanned-property", path, place.location)
            }
        }
        return "{" + parts.joined(separator: ",") + "}"
    }

    package mutating func value(_ value: ReferenceJSON, of property: PropertyDefinition, at place: Place) -> String {
        if value == .null, property.isNullable { return "null" }
        switch (property.type, value) {
        case (.any, .null): break
        case (.any, _),
            (.object, .object) where property.properties == nil,
            (.array, .array) where property.items == nil:
            return free(value, at: place.path, level: place.level)
        case (.object, .object(let members)):
            return object(members, of: property.properties ?? [], isOpen: false, at: place)
        case (.array, .array(let elements)):
            return array(elements, of: property.items, at: place)
        default:
            if let scalar = scalar(value, of: property, at: place) { return scalar }
        }
        report("wrong-type", place.path, property.location)
        return ""
    }

    private mutating func array(_ elements: [ReferenceJSON], of items: PropertyDefinition?, at place: Place) -> String {
        if isTooDeep(place.level, place.path) { return "" }
        guard let items else { return "" }
        var parts: [String] = []
        for (index, element) in elements.enumerated() {
            parts.append(value(element, of: items, at: place.index(index, items.location)))
        }
        return "[" + parts.joined(separator: ",") + "]"
    }

    // MARK: Values that are not in the plan

    package mutating func free(_ value: ReferenceJSON, at path: String, level: Int) -> String {
        switch value {
        case .object(let members):
            if isTooDeep(level, path) { return "" }
            reportDuplicates(members, at: path)
            let parts = members.map { member in
                let inner = path + ReferenceWriter.step(member.key)
                return string(member.key, at: inner) + ":" + free(member.value, at: inner, level: level + 1)
            }
            return "{" + parts.joined(separator: ",") + "}"
        case .array(let elements):
            if isTooDeep(level, path) { return "" }
            let parts = elements.enumerated().map { free($1, at: "\(path)[\($0)]", level: level + 1) }
            return "[" + parts.joined(separator: ",") + "]"
        case .string(let text):
            return string(text, at: path)
        case .number(let text):
            return freeNumber(text, at: path)
        default:
            return ReferenceWriter.value(value)
        }
    }

    /// A number that the plan does not describe keeps its value exactly.
    private mutating func freeNumber(_ text: String, at path: String) -> String {
        if Int64(text) != nil || UInt64(text) != nil { return ReferenceWriter.number(text) }
        guard let value = Double(text), value.isFinite, let exact = ReferenceDecimal(text) else {
            report("out-of-range", path)
            return ""
        }
        let isKept = ReferenceDecimal(value.description).map { $0.compared(to: exact) == 0 } ?? false
        return isKept ? ReferenceWriter.double(text) : text
    }

    package mutating func string(_ text: [UInt32], at path: String) -> String {
        if text.contains(0) { report("malformed-json", path) }
        return ReferenceWriter.string(text)
    }

    private mutating func reportDuplicates(_ members: [ReferenceMember], at path: String) {
        for (position, member) in members.enumerated()
        where members[..<position].contains(where: { $0.key == member.key }) {
            report("malformed-json", path + ReferenceWriter.step(member.key))
        }
    }
}
