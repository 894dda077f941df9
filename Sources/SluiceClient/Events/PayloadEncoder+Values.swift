@_spi(CanonicalJSON) public import EventModel
import EventSchema
import PortDefinitions

// Each function has a variant for values that may be absent, which keeps generated code readable.
extension PayloadEncoder {
    /// Encodes a `string`; its length is checked.
    public mutating func string(_ value: String) {
        guard let property = begin(.string) else { return }
        append(value)
        let length = value.unicodeScalars.count
        if let greatest = property.maxLength, length > greatest {
            report(.tooLong, "at most \(greatest) characters")
        } else if let least = property.minLength, length < least {
            report(.tooShort, "at least \(least) characters")
        }
    }

    /// Encodes a `string` that may be absent.
    public mutating func string(_ value: String?) {
        if let value { string(value) } else { skip() }
    }

    /// Encodes an `integer`; its range is checked.
    public mutating func integer(_ value: Int) {
        guard let property = begin(.integer) else { return }
        let number = ExactDecimal(String(value))
        checkRange(of: number, as: property)
        output.append(Int64(value))
    }

    /// Encodes an `integer` that may be absent.
    public mutating func integer(_ value: Int?) {
        if let value { integer(value) } else { skip() }
    }

    /// Encodes a `number`, which must be finite; its range is checked.
    public mutating func number(_ value: Double) {
        guard let property = begin(.number) else { return }
        guard value.isFinite else { return report(.outOfRange, "a finite number") }
        let isTooSmall = property.minimum.flatMap { Double($0.text) }.map { value < $0 } ?? false
        let isTooLarge = property.maximum.flatMap { Double($0.text) }.map { value > $0 } ?? false
        if isTooSmall || isTooLarge { reportRange(of: property) }
        output.append(value)
    }

    /// Encodes a `number` that may be absent.
    public mutating func number(_ value: Double?) {
        if let value { number(value) } else { skip() }
    }

    /// Encodes a `decimal`; its range is checked.
    public mutating func decimal(_ value: ExactDecimal) {
        guard let property = begin(.decimal) else { return }
        checkRange(of: value, as: property)
        output.appendQuoted(value)
    }

    /// Encodes a `decimal` that may be absent.
    public mutating func decimal(_ value: ExactDecimal?) {
        if let value { decimal(value) } else { skip() }
    }

    /// Encodes a `boolean`.
    public mutating func boolean(_ value: Bool) {
        guard begin(.boolean) != nil else { return }
        if value { output.append("true") } else { output.append("false") }
    }

    /// Encodes a `boolean` that may be absent.
    public mutating func boolean(_ value: Bool?) {
        if let value { boolean(value) } else { skip() }
    }

    /// Encodes a `timestamp` with its precision.
    public mutating func timestamp(_ value: Timestamp) {
        guard begin(.timestamp) != nil else { return }
        output.appendQuoted(value)
    }

    /// Encodes a `timestamp` that may be absent.
    public mutating func timestamp(_ value: Timestamp?) {
        if let value { timestamp(value) } else { skip() }
    }

    /// Encodes a `date`.
    public mutating func date(_ value: CalendarDate) {
        guard begin(.date) != nil else { return }
        output.appendQuoted(value)
    }

    /// Encodes a `date` that may be absent.
    public mutating func date(_ value: CalendarDate?) {
        if let value { date(value) } else { skip() }
    }

    /// Encodes a `uuid`, in lower case.
    public mutating func uuid(_ value: EventID) {
        guard begin(.uuid) != nil else { return }
        output.appendQuoted(value)
    }

    /// Encodes a `uuid` that may be absent.
    public mutating func uuid(_ value: EventID?) {
        if let value { uuid(value) } else { skip() }
    }

    /// Encodes a value of an `enum`, given by its position in the plan's list.
    public mutating func enumeration(_ ordinal: Int) {
        guard let property = advance() else { return }
        guard let values = property.enumeration, values.indices.contains(ordinal) else {
            return report(.notInEnum, "one of the plan's values")
        }
        appendKey(of: property)
        let text = Array(OrderedJSON(values[ordinal]).line.utf8)
        text.withUnsafeBytes { output.append($0) }
    }

    /// Encodes a value of an `enum` that may be absent.
    public mutating func enumeration(_ ordinal: Int?) {
        if let ordinal { enumeration(ordinal) } else { skip() }
    }

    /// Encodes a value of type `any`.
    public mutating func any(_ value: JSONValue) {
        guard let property = begin(.any) else { return }
        if value == .null, !property.isNullable { report(.wrongType, "any value but null") }
        append(value)
    }

    /// Encodes a value of type `any` that may be absent.
    public mutating func any(_ value: JSONValue?) {
        if let value { any(value) } else { skip() }
    }

    private mutating func checkRange(of value: ExactDecimal?, as property: PropertyDefinition) {
        guard let value else { return }
        let isTooSmall = property.minimum.flatMap { ExactDecimal($0.text) }.map { value < $0 } ?? false
        let isTooLarge = property.maximum.flatMap { ExactDecimal($0.text) }.map { value > $0 } ?? false
        if isTooSmall || isTooLarge { reportRange(of: property) }
    }

    private mutating func reportRange(of property: PropertyDefinition) {
        let least = property.minimum.map { "at least \($0.text)" }
        let greatest = property.maximum.map { "at most \($0.text)" }
        let limits = [least, greatest].compactMap(\.self).joined(separator: " and ")
        report(.outOfRange, property.type.rawValue + ", " + limits)
    }
}

// MARK: - Objects and arrays

extension PayloadEncoder {
    /// Encodes an `object` whose properties the plan declares.
    public mutating func object(_ value: some PayloadObject) {
        guard let property = begin(.object) else { return }
        guard let properties = property.properties else { return report(.wrongType, "a free-form object") }
        encode(value, properties, isOpen: false)
    }

    /// Encodes an `object` that may be absent.
    public mutating func object<Object: PayloadObject>(_ value: Object?) {
        if let value { object(value) } else { skip() }
    }

    /// Encodes a free-form `object`.
    public mutating func object(_ members: [String: JSONValue]) {
        guard let property = begin(.object) else { return }
        guard property.properties == nil else { return report(.wrongType, "an object with declared properties") }
        append(.object(members))
    }

    /// Encodes a free-form `object` that may be absent.
    public mutating func object(_ members: [String: JSONValue]?) {
        if let members { object(members) } else { skip() }
    }

    /// Encodes an `array` whose items the plan declares; `encodeElement` makes one call for each element.
    public mutating func array<Element>(
        _ values: [Element],
        _ encodeElement: (inout PayloadEncoder, Element) -> Void
    ) {
        guard let property = begin(.array) else { return }
        guard let items = property.items else { return report(.wrongType, "free-form items") }
        encodeElements(values, as: items, encodeElement)
    }

    /// Encodes an `array` that may be absent.
    public mutating func array<Element>(
        _ values: [Element]?,
        _ encodeElement: (inout PayloadEncoder, Element) -> Void
    ) {
        if let values { array(values, encodeElement) } else { skip() }
    }

    /// Encodes an `array` of free-form items.
    public mutating func array(_ values: [JSONValue]) {
        guard let property = begin(.array) else { return }
        guard property.items == nil else { return report(.wrongType, "items that the plan declares") }
        append(.array(values))
    }

    /// Encodes an `array` of free-form items that may be absent.
    public mutating func array(_ values: [JSONValue]?) {
        if let values { array(values) } else { skip() }
    }
}
