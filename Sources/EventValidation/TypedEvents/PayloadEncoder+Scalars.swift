@_spi(CanonicalJSON) public import EventModel
import EventSchema

// Each function has a variant for values that may be absent, which keeps generated code readable.
extension PayloadEncoder {
    /// Encodes a `string`; its length and pattern are checked.
    public mutating func string(_ value: String) {
        guard let property = begin(.string) else { return }
        var value = value
        value.withUTF8 { utf8 in
            let text = UnsafeRawBufferPointer(utf8)
            appendText(text)
            checkText(text, as: property)
        }
    }

    /// Encodes a `string` that may be absent.
    public mutating func string(_ value: String?) {
        if let value { string(value) } else { skip() }
    }

    /// Encodes an `integer`; its range is checked.
    public mutating func integer(_ value: Int) {
        guard let property = begin(.integer) else { return }
        let value = Int64(value)
        checkRange(of: value, as: property)
        output.append(value)
    }

    /// Encodes an `integer` that may be absent.
    public mutating func integer(_ value: Int?) {
        if let value { integer(value) } else { skip() }
    }

    /// Encodes a `number`, which must be finite; its range is checked.
    public mutating func number(_ value: Double) {
        guard let property = begin(.number) else { return }
        guard value.isFinite else { return reportNotFinite() }
        checkRange(of: value, as: property)
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
        guard let values = property.pointee.enumeration, ordinal >= 0, ordinal < values.count else {
            return reportNotInEnum(of: property, found: "value \(ordinal) of an enum")
        }
        if !isElement { output.appendPadded(property.pointee.key.bytes) }
        output.appendPadded(values.names[ordinal].bytes)
    }

    /// Encodes a value of an `enum` that may be absent.
    public mutating func enumeration(_ ordinal: Int?) {
        if let ordinal { enumeration(ordinal) } else { skip() }
    }
}
