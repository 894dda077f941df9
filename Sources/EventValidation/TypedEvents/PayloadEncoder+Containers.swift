@_spi(CanonicalJSON) public import EventModel
import EventSchema

extension PayloadEncoder {
    /// Encodes an `object` whose properties the plan declares.
    public mutating func object(_ value: some PayloadObject) {
        guard let property = begin(.object) else { return }
        guard property.pointee.object >= 0 else {
            report(.wrongType, of: property, expected: "a free-form object", found: "one with declared properties")
            return
        }
        places.append(Place(property: property))
        encodeMembers(of: value, as: property.pointee.object)
        places.removeLast()
    }

    /// Encodes an `object` that may be absent.
    public mutating func object<Object: PayloadObject>(_ value: Object?) {
        if let value { object(value) } else { skip() }
    }

    /// Encodes an `array` whose items the plan declares; `encodeElement` makes one call for each element.
    public mutating func array<Element>(
        _ values: [Element],
        _ encodeElement: (inout PayloadEncoder, Element) -> Void
    ) {
        guard let property = begin(.array), descend() else { return }
        defer { depth -= 1 }
        guard property.pointee.items >= 0 else {
            report(.wrongType, of: property, expected: "free-form items", found: "declared ones")
            return
        }
        let outer = (next, isElement)
        (next, isElement) = (plan.tables.properties + property.pointee.items, true)
        places.append(Place(property: property, element: 0))
        output.append(UInt8(ascii: "["))
        for index in values.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            places[places.count - 1].element = index
            isElementDone = false
            encodeElement(&self, values[index])
            if !isElementDone { skip() }
        }
        output.append(UInt8(ascii: "]"))
        places.removeLast()
        (next, isElement) = outer
        isElementDone = true
    }

    /// Encodes an `array` that may be absent.
    public mutating func array<Element>(
        _ values: [Element]?,
        _ encodeElement: (inout PayloadEncoder, Element) -> Void
    ) {
        if let values { array(values, encodeElement) } else { skip() }
    }

    /// Encodes a value of type `any`.
    public mutating func any(_ value: JSONValue) {
        guard let property = begin(.any) else { return }
        if value == .null, !property.pointee.isNullable {
            reportType(of: property, found: "null")
        }
        append(value)
    }

    /// Encodes a value of type `any` that may be absent.
    public mutating func any(_ value: JSONValue?) {
        if let value { any(value) } else { skip() }
    }

    /// Encodes a free-form `object`.
    public mutating func object(_ members: [String: JSONValue]) {
        guard let property = begin(.object) else { return }
        guard property.pointee.object < 0 else {
            report(.wrongType, of: property, expected: "an object with declared properties", found: "a free-form one")
            return
        }
        append(.object(members))
    }

    /// Encodes a free-form `object` that may be absent.
    public mutating func object(_ members: [String: JSONValue]?) {
        if let members { object(members) } else { skip() }
    }

    /// Encodes an `array` of free-form items.
    public mutating func array(_ values: [JSONValue]) {
        guard let property = begin(.array) else { return }
        guard property.pointee.items < 0 else {
            report(.wrongType, of: property, expected: "items that the plan declares", found: "free-form items")
            return
        }
        append(.array(values))
    }

    /// Encodes an `array` of free-form items that may be absent.
    public mutating func array(_ values: [JSONValue]?) {
        if let values { array(values) } else { skip() }
    }

    /// Encodes properties that the plan does not declare; after all others, and only if the plan allows additional properties.
    public mutating func additionalProperties(_ members: [String: JSONValue]) {
        let rules = plan.tables.objects[object]
        guard !isElement, !isComplete, rules.isOpen || members.isEmpty else { return reportSurplus() }
        while next < end { skip() }
        isComplete = true
        defer { additionalKey = nil }
        for (key, value) in members.inCanonicalOrder {
            // The table reads whole words, beyond the end of the key.
            let padded = Array(key.utf8) + [UInt8](repeating: 0, count: ByteBuilder.padding)
            let isPlanned = padded.withUnsafeBytes {
                rules.keys.ordinal(of: UnsafeRawBufferPointer(rebasing: $0.dropLast(ByteBuilder.padding))) >= 0
            }
            additionalKey = key
            if isPlanned { reportPlanned() }
            output.append(UInt8(ascii: ","))
            appendMember(key, value)
        }
    }
}
