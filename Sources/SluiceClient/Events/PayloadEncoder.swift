@_spi(CanonicalJSON) import EventModel
import EventSchema
import PortDefinitions

/// Encodes the properties of a typed event as JSON, and checks each value against the plan.
///
/// There must be one call for each property of the object, in the plan's order, with `nil` for an absent value. Everything is
/// checked but patterns, which the server checks.
public struct PayloadEncoder: ~Copyable {
    /// What a text has to be, in a violation's words.
    private static let textInWords = "text without NUL characters"

    /// A step to a value.
    enum Step {
        /// The event itself.
        case root
        case key(String)
        case index(Int)

        fileprivate var text: String {
            switch self {
            case .root: ""
            case .key(let key): JSONPath.step(toKey: key)
            case .index(let index): "[\(index)]"
            }
        }
    }

    /// An object or an array that is being encoded.
    private struct Place {
        /// The key or index that leads to it.
        let step: Step
        /// The properties of an object; empty for an array.
        let properties: [PropertyDefinition]
        /// Whether additional properties are allowed.
        let isOpen: Bool
        /// The rules of an array's elements; `nil` for an object.
        var item: PropertyDefinition?
        /// The index of the next property, or of the element being encoded.
        var next = 0
        /// Whether the current element was encoded, or an object's additional properties.
        var isDone = false
    }

    var output = ByteBuilder(capacity: 1024)
    private(set) var violations: [InvalidEvent.Violation] = []
    private var places: [Place] = []
    /// The step from the innermost place to the value being encoded.
    var step = Step.root

    init() {}

    // MARK: Objects and arrays

    /// Encodes an object's members, and the braces around them.
    mutating func encode(
        _ object: some PayloadObject,
        _ properties: [PropertyDefinition],
        isOpen: Bool
    ) {
        guard descend() else { return }
        places.append(Place(step: step, properties: properties, isOpen: isOpen))
        let start = output.count
        object.encode(into: &self)
        if !(places.last?.isDone ?? true) {
            while let place = places.last, place.next < place.properties.count { skip() }
        }
        output.closeObject(from: start)
        places.removeLast()
    }

    /// Encodes an array's elements, and the brackets around them; `encode` makes one call for each.
    mutating func encodeElements<Element>(
        _ values: [Element],
        as item: PropertyDefinition,
        _ encode: (inout PayloadEncoder, Element) -> Void
    ) {
        guard descend() else { return }
        places.append(Place(step: step, properties: [], isOpen: false, item: item))
        let innermost = places.count - 1
        output.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            places[innermost].next = index
            places[innermost].isDone = false
            encode(&self, value)
            if !places[innermost].isDone { skip() }
        }
        output.append(UInt8(ascii: "]"))
        places.removeLast()
    }

    /// Encodes properties that the plan does not declare; after all others, and only if the plan allows additional properties.
    public mutating func additionalProperties(_ members: [String: JSONValue]) {
        guard let place = places.last, place.item == nil, !place.isDone, place.isOpen || members.isEmpty else {
            return reportSurplus()
        }
        while let place = places.last, place.next < place.properties.count { skip() }
        places[places.count - 1].isDone = true
        for (key, value) in members.inCanonicalOrder {
            step = .key(key)
            // The server compares keys byte by byte.
            if place.properties.contains(where: { $0.name == key && $0.name.utf8.elementsEqual(key.utf8) }) {
                report(.malformedJSON, "each key once")
            }
            output.append(UInt8(ascii: ","))
            append(key)
            output.append(UInt8(ascii: ":"))
            append(value)
        }
    }

    // MARK: Single values

    /// Writes the key of the next value and returns its rules; `nil` if the plan has another type there.
    mutating func begin(_ type: PropertyType.Kind) -> PropertyDefinition? {
        guard let property = advance() else { return nil }
        guard property.type.kind == type, property.enumeration == nil else {
            report(.wrongType, property.type.rawValue)
            return nil
        }
        appendKey(of: property)
        return property
    }

    /// The rules of the next value; `nil` if the object has no more properties.
    mutating func advance() -> PropertyDefinition? {
        guard let place = places.last, !place.isDone else {
            reportSurplus()
            return nil
        }
        let innermost = places.count - 1
        if let item = place.item {
            places[innermost].isDone = true
            step = .index(place.next)
            return item
        }
        guard place.next < place.properties.count else {
            reportSurplus()
            return nil
        }
        places[innermost].next += 1
        step = .key(place.properties[place.next].name)
        return place.properties[place.next]
    }

    /// Encodes an absent value.
    mutating func skip() {
        guard let property = advance() else { return }
        let isElement = places.last?.item != nil
        guard isElement || property.isRequired else { return }
        guard property.isNullable else { return report(.missingRequired, property.type.rawValue) }
        appendKey(of: property)
        output.append("null")
    }

    /// Appends the key of a property, unless the value is an element of an array.
    mutating func appendKey(of property: PropertyDefinition) {
        guard places.last?.item == nil else { return }
        output.append(UInt8(ascii: ","))
        append(property.name)
        output.append(UInt8(ascii: ":"))
    }

    /// Appends a string, and reports a NUL character in it.
    mutating func append(_ text: String) {
        var text = text
        let problems = text.withUTF8 { output.appendUnpaddedString(UnsafeRawBufferPointer($0)) }
        if !problems.isEmpty { report(.malformedJSON, Self.textInWords) }
    }

    /// Appends a value that the plan does not describe.
    mutating func append(_ value: JSONValue) {
        for problem in output.append(value, depth: places.count + 1) {
            switch problem.kind {
            case .nul: report(.malformedJSON, Self.textInWords, at: problem.path)
            case .notFinite: report(.outOfRange, "a finite number", at: problem.path)
            case .tooDeep: report(.tooDeep, EventLimits.depthInWords, at: problem.path)
            }
        }
    }

    // MARK: Violations

    /// Records that the current value breaks a rule, or the part of it to which the path `part` leads.
    mutating func report(_ code: RejectionCode, _ expected: String, at part: String = "") {
        guard violations.count < EventLimits.maximumViolations else { return }
        let path = places.reduce(into: "$") { $0 += $1.step.text } + step.text + part
        violations.append(InvalidEvent.Violation(code: code.rawValue, path: path, expected: expected))
    }

    private mutating func reportSurplus() {
        report(.unplannedProperty, "no more properties")
    }

    private mutating func descend() -> Bool {
        guard places.count < EventLimits.maximumDepth - 1 else {
            report(.tooDeep, EventLimits.depthInWords)
            return false
        }
        return true
    }
}
