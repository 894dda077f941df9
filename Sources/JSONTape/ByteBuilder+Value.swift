import EventModel

extension ByteBuilder {
    /// Appends the value at `index` of a tape, and all it holds, as JSON without spaces.
    ///
    /// The tape must be of a document that was already checked: nesting is at most 64 levels deep.
    package mutating func appendValue(at index: Int, of tape: JSONTape) {
        switch tape.kind(at: index) {
        case .object: appendObject(at: index, of: tape)
        case .array: appendArray(at: index, of: tape)
        case .string: _ = appendString(tape.string(at: index))
        default: appendScalar(at: index, of: tape)
        }
    }

    /// Appends the number, truth value or null at `index` of a tape.
    package mutating func appendScalar(at index: Int, of tape: JSONTape) {
        switch tape.kind(at: index) {
        case .signed: append(tape.signed(at: index))
        case .unsigned: append(tape.unsigned(at: index))
        case .double: append(tape.double(at: index))
        case .true: append("true")
        case .false: append("false")
        default: append("null")
        }
    }

    private mutating func appendObject(at index: Int, of tape: JSONTape) {
        append(UInt8(ascii: "{"))
        let contents = tape.contents(of: index)
        var member = contents.lowerBound
        while member < contents.upperBound {
            if member > contents.lowerBound { append(UInt8(ascii: ",")) }
            _ = appendString(tape.string(at: member))
            append(UInt8(ascii: ":"))
            appendValue(at: member + 1, of: tape)
            member = tape.end(of: member + 1)
        }
        append(UInt8(ascii: "}"))
    }

    private mutating func appendArray(at index: Int, of tape: JSONTape) {
        append(UInt8(ascii: "["))
        let contents = tape.contents(of: index)
        var element = contents.lowerBound
        while element < contents.upperBound {
            if element > contents.lowerBound { append(UInt8(ascii: ",")) }
            appendValue(at: element, of: tape)
            element = tape.end(of: element)
        }
        append(UInt8(ascii: "]"))
    }
}
