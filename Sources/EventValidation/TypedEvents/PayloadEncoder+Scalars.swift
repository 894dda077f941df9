public import EventModel
import EventSchema
import JSONTape

// Each has a form for values that may be absent, because the generated code is read, and calls it as it reads.
extension PayloadEncoder {
    /// Encodes a `string`; its length and pattern are checked.
    public mutating func string(_ value: String) {
        guard let property = begin(.string) else { return }
        append(value, as: property)
    }

    /// Encodes a `string` that may be absent.
    public mutating func string(_ value: String?) {
        if let value { string(value) } else { skip() }
    }

    /// Encodes an `integer`; its range is checked.
    public mutating func integer(_ value: Int) {
        guard let property = begin(.integer) else { return }
        let value = Int64(value)
        if value < property.pointee.leastInteger || value > property.pointee.greatestInteger {
            reportRange(of: property)
        }
        output.append(value)
    }

    /// Encodes an `integer` that may be absent.
    public mutating func integer(_ value: Int?) {
        if let value { integer(value) } else { skip() }
    }

    /// Encodes a `number`, which has to be finite; its range is checked.
    public mutating func number(_ value: Double) {
        guard let property = begin(.number) else { return }
        guard value.isFinite else {
            report(.outOfRange, of: property, expected: "a finite number", found: "an infinite one, or NaN")
            return
        }
        if value < property.pointee.leastNumber || value > property.pointee.greatestNumber {
            reportRange(of: property)
        }
        output.append(value)
    }

    /// Encodes a `number` that may be absent.
    public mutating func number(_ value: Double?) {
        if let value { number(value) } else { skip() }
    }

    /// Encodes a `decimal`; its range is checked.
    public mutating func decimal(_ value: ExactDecimal) {
        guard let property = begin(.decimal) else { return }
        if property.pointee.hasRange, !plan.allows(value, as: property) { reportRange(of: property) }
        output.appendQuoted(atMost: value.textLength) { value.write(to: $0) }
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

    /// Encodes a `timestamp`, with as many digits of the second's fraction as it states.
    public mutating func timestamp(_ value: Timestamp) {
        guard begin(.timestamp) != nil else { return }
        output.appendQuoted(atMost: Timestamp.maximumTextLength) { value.write(to: $0) }
    }

    /// Encodes a `timestamp` that may be absent.
    public mutating func timestamp(_ value: Timestamp?) {
        if let value { timestamp(value) } else { skip() }
    }

    /// Encodes a `date`.
    public mutating func date(_ value: CalendarDate) {
        guard begin(.date) != nil else { return }
        output.appendQuoted(atMost: CalendarDate.textLength) { value.write(to: $0) }
    }

    /// Encodes a `date` that may be absent.
    public mutating func date(_ value: CalendarDate?) {
        if let value { date(value) } else { skip() }
    }

    /// Encodes a `uuid`, in lower case.
    public mutating func uuid(_ value: EventID) {
        guard begin(.uuid) != nil else { return }
        output.appendQuoted(atMost: EventID.textLength) { bytes in
            value.write(to: bytes)
            return EventID.textLength
        }
    }

    /// Encodes a `uuid` that may be absent.
    public mutating func uuid(_ value: EventID?) {
        if let value { uuid(value) } else { skip() }
    }

    /// Encodes one of the values of an `enum`, by its place among them.
    public mutating func enumeration(_ ordinal: Int) {
        guard let property = advance() else { return }
        guard let values = property.pointee.enumeration, ordinal >= 0, ordinal < values.count else {
            report(
                .notInEnum,
                of: property,
                expected: plan.typeRule(of: property),
                found: "value \(ordinal) of an enum"
            )
            return
        }
        if !isElement { output.appendPadded(property.pointee.key.bytes) }
        output.appendPadded(values.names[ordinal].bytes)
    }

    /// Encodes one of the values of an `enum` that may be absent.
    public mutating func enumeration(_ ordinal: Int?) {
        if let ordinal { enumeration(ordinal) } else { skip() }
    }
}
