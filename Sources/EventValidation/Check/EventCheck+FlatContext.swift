@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape

/// The `context` in the short walk: values that the plan does not describe, which are copied without the white space between them.
extension EventCheck {
    /// The maximum number of members of an object; more would have to be compared faster than in pairs.
    private static var maximumFlatMembers: Int { 8 }
    /// The maximum depth of objects and arrays.
    private static var maximumFlatLevels: Int { 8 }

    /// Whether a `context` that is sent stays as it is.
    var keepsContext: Bool { sensitive.context.isEmpty && additions.isEmpty }

    /// Appends the `context`, with its key; false if this walk does not understand it.
    mutating func copyFlatContext(_ line: JSONLineStructure, into output: inout ByteBuilder) -> Bool {
        var place = envelope.context
        guard line.byte(at: place) == UInt8(ascii: "{") else { return false }
        output.appendPadded(tables.keys.context.bytes)
        return copyFlatMembers(at: &place, of: line, level: 1, into: &output)
    }

    /// Appends the value at a place as `encodeFreeForm` does, and moves to the place behind it; false if this walk does not
    /// understand it.
    private mutating func copyFlatValue(
        at place: inout Int,
        of line: JSONLineStructure,
        level: Int,
        into output: inout ByteBuilder
    ) -> Bool {
        switch line.byte(at: place) {
        case UInt8(ascii: "{"):
            return level < Self.maximumFlatLevels
                && copyFlatMembers(at: &place, of: line, level: level + 1, into: &output)
        case UInt8(ascii: "["):
            return level < Self.maximumFlatLevels
                && copyFlatElements(at: &place, of: line, level: level + 1, into: &output)
        case UInt8(ascii: "\""):
            guard let text = line.string(at: place) else { return false }
            output.appendPlainString(text)
        default:
            let value = line.value(at: place)
            guard CanonicalNumber(value) != nil || Self.isLiteral(value) else { return false }
            output.appendPadded(value)
        }
        place &+= 1
        return true
    }

    private static func isLiteral(_ text: UnsafeRawBufferPointer) -> Bool {
        text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8) || text.elementsEqual("null".utf8)
    }

    private mutating func copyFlatMembers(
        at place: inout Int,
        of line: JSONLineStructure,
        level: Int,
        into output: inout ByteBuilder
    ) -> Bool {
        let frame = slots.push(Self.maximumFlatMembers)
        defer { slots.pop(Self.maximumFlatMembers) }
        place &+= 1
        output.append(UInt8(ascii: "{"))
        var count = 0
        while let key = line.key(at: place), count < Self.maximumFlatMembers {
            for earlier in frame..<frame + count {
                guard let other = line.key(at: slots[earlier]), !Self.areEqual(key, other) else { return false }
            }
            slots[frame + count] = place
            count += 1
            output.appendPlainString(key)
            output.append(UInt8(ascii: ":"))
            place &+= 2
            // The other walk knows which members without a value count as absent.
            if level == 1, nullIsAbsent, line.byte(at: place) == UInt8(ascii: "n") { return false }
            guard copyFlatValue(at: &place, of: line, level: level, into: &output) else { return false }
            let separator = line.byte(at: place)
            place &+= 1
            output.append(separator)
            guard separator == UInt8(ascii: ",") else { return separator == UInt8(ascii: "}") }
        }
        guard count == 0, line.byte(at: place) == UInt8(ascii: "}") else { return false }
        place &+= 1
        output.append(UInt8(ascii: "}"))
        return true
    }

    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count, let a = left.baseAddress, let b = right.baseAddress else { return false }
        return ByteTable.areEqual(a, b, left.count)
    }

    private mutating func copyFlatElements(
        at place: inout Int,
        of line: JSONLineStructure,
        level: Int,
        into output: inout ByteBuilder
    ) -> Bool {
        place &+= 1
        output.append(UInt8(ascii: "["))
        if line.byte(at: place) == UInt8(ascii: "]") {
            place &+= 1
            output.append(UInt8(ascii: "]"))
            return true
        }
        while copyFlatValue(at: &place, of: line, level: level, into: &output) {
            let separator = line.byte(at: place)
            place &+= 1
            output.append(separator)
            guard separator == UInt8(ascii: ",") else { return separator == UInt8(ascii: "]") }
        }
        return false
    }
}
