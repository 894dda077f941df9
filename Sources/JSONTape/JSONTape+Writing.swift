@_spi(CanonicalJSON) public import EventModel

extension JSONTape {
    /// Appends the value at `index`, with everything in it, as JSON without spaces.
    ///
    /// The document must have been checked: the function is recursive, so it relies on the limit of 64 levels.
    @_spi(CanonicalJSON)
    public func appendValue(at index: Int, to output: inout ByteBuilder) {
        switch kind(at: index) {
        case .object: appendObject(at: index, to: &output)
        case .array: appendArray(at: index, to: &output)
        case .string: _ = output.appendString(string(at: index))
        default: appendScalar(at: index, to: &output)
        }
    }

    /// Appends the number, Boolean or null at `index`.
    @inlinable
    @_spi(CanonicalJSON)
    public func appendScalar(at index: Int, to output: inout ByteBuilder) {
        switch kind(at: index) {
        case .signed: output.append(signed(at: index))
        case .unsigned: output.append(unsigned(at: index))
        case .double:
            let value = double(at: index)
            if value.isNaN { output.append(oversizedNumber(at: index)) } else { output.append(value) }
        case .true: output.append("true")
        case .false: output.append("false")
        default: output.append("null")
        }
    }

    private func appendObject(at index: Int, to output: inout ByteBuilder) {
        output.append(UInt8(ascii: "{"))
        let contents = contents(of: index)
        var member = contents.lowerBound
        while member < contents.upperBound {
            if member > contents.lowerBound { output.append(UInt8(ascii: ",")) }
            _ = output.appendString(string(at: member))
            output.append(UInt8(ascii: ":"))
            appendValue(at: member + 1, to: &output)
            member = end(of: member + 1)
        }
        output.append(UInt8(ascii: "}"))
    }

    private func appendArray(at index: Int, to output: inout ByteBuilder) {
        output.append(UInt8(ascii: "["))
        let contents = contents(of: index)
        var element = contents.lowerBound
        while element < contents.upperBound {
            if element > contents.lowerBound { output.append(UInt8(ascii: ",")) }
            appendValue(at: element, to: &output)
            element = end(of: element)
        }
        output.append(UInt8(ascii: "]"))
    }
}
