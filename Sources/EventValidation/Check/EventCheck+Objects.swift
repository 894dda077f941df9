@_spi(CanonicalJSON) import EventModel
import EventSchema
@_spi(CanonicalJSON) import JSONTape

extension EventCheck {
    /// Checks the object at `index` against an object of the plan, and appends it with its keys in the plan's order.
    mutating func encodeObject(at index: Int, as object: Int, into output: inout ByteBuilder) {
        guard descend() else { return }
        defer { depth -= 1 }
        let object = tables.objects[object]
        let start = output.count
        if object.isFlat {
            let (violationsBefore, firstCodeBefore) = (violations.count, firstCode)
            if encodeInOrder(at: index, as: object, into: &output) { return }
            output.count = start
            firstCode = firstCodeBefore
            if violations.count > violationsBefore { violations.removeLast(violations.count - violationsBefore) }
        }
        let frame = slots.push(object.keys.count)
        let others = fillSlots(ofObjectAt: index, as: object, frame: frame)

        path.push(.index(0))
        for ordinal in 0..<object.keys.count {
            encodeMember(slots[frame + ordinal], ordinal: ordinal, of: object, into: &output)
        }
        path.pop()
        slots.pop(object.keys.count)
        if others { encodeOthers(ofObjectAt: index, as: object, into: &output) }
        output.closeObject(from: start)
    }

    /// Tries the common case that the keys are in the plan's order, so that each value can be appended at once.
    ///
    /// False if they are not, or one is missing, unplanned or repeated; the caller must discard the result then.
    private mutating func encodeInOrder(
        at index: Int,
        as object: CompiledPlan.Object,
        into output: inout ByteBuilder
    ) -> Bool {
        let contents = tape.contents(of: index)
        let start = output.count
        var member = contents.lowerBound
        var next = 0
        path.push(.index(0))
        defer { path.pop() }
        while member < contents.upperBound {
            let key = tape.string(at: member)
            if !object.keys.isName(next, key) {
                next = skip(from: next, to: key, of: object)
                if next < 0 { return false }
            }
            let value = member &+ 1
            encodeMember(value, ordinal: next, of: object, into: &output)
            next &+= 1
            member = tape.end(of: value)
        }
        guard isOptional(next..<object.keys.count, of: object) else { return false }
        output.closeObject(from: start)
        return true
    }

    /// The ordinal of `key`, if it is at least `first` and only optional properties are in between; otherwise -1.
    @inline(never)
    private mutating func skip(from first: Int, to key: UnsafeRawBufferPointer, of object: CompiledPlan.Object) -> Int {
        let ordinal = object.keys.ordinal(of: key)
        return ordinal >= first && isOptional(first..<ordinal, of: object) ? ordinal : -1
    }

    @inline(__always)
    private func isOptional(_ ordinals: Range<Int>, of object: CompiledPlan.Object) -> Bool {
        for ordinal in ordinals where tables.properties[object.firstProperty + ordinal].isRequired { return false }
        return true
    }

    /// Records the position of each property's value; returns whether there are additional members that are allowed.
    @inline(__always)
    private mutating func fillSlots(ofObjectAt index: Int, as object: CompiledPlan.Object, frame: Int) -> Bool {
        let contents = tape.contents(of: index)
        var member = contents.lowerBound
        var expected = 0
        var hasOthers = false
        while member < contents.upperBound {
            let key = tape.string(at: member)
            let value = member + 1
            let ordinal = object.keys.ordinal(of: key, guess: expected)
            if ordinal >= 0 {
                expected = ordinal + 1
                if slots[frame + ordinal] == 0 {
                    slots[frame + ordinal] = value
                } else {
                    report(.malformedJSON, at: .key(key), expected: "each key once", found: "the key again")
                }
            } else if object.isOpen {
                hasOthers = true
            } else if !isAbsent(value) {
                reportUnplanned(key, value: value, in: object)
            }
            member = tape.end(of: value)
        }
        return hasOthers
    }

    @inline(never)
    private mutating func reportUnplanned(_ key: UnsafeRawBufferPointer, value: Int, in object: CompiledPlan.Object) {
        guard isDescribed(.unplannedProperty) else { return }
        let near = object.suggestions.suggestion(for: key)
        report(
            .unplannedProperty,
            at: .key(key),
            expected: near.map { "no such property; did you mean '\($0)'?" } ?? "no such property",
            found: kindName(at: value),
            location: plan.objectLocations[object.index]
        )
    }

    /// Checks and appends the value of a property, 0 if it is absent; its key becomes the last step of the path.
    @inline(__always)
    private mutating func encodeMember(
        _ value: Int,
        ordinal: Int,
        of object: CompiledPlan.Object,
        into output: inout ByteBuilder
    ) {
        let property = tables.properties + (object.firstProperty &+ ordinal)
        path.replaceLast(.key(object.keys.names[ordinal].bytes))
        guard value != 0, property.pointee.isNullable || !isAbsent(value) else {
            if property.pointee.isRequired { reportMissing(property) }
            return
        }
        if property.pointee.treatment != .keep { return encodeSensitive(at: value, as: property, into: &output) }
        output.appendPadded(property.pointee.key.bytes)
        encodeValue(at: value, as: property, into: &output)
    }

    private mutating func encodeOthers(
        ofObjectAt index: Int,
        as object: CompiledPlan.Object,
        into output: inout ByteBuilder
    ) {
        reportDuplicateKeys(ofObjectAt: index) { [tape] in object.keys.ordinal(of: tape.string(at: $0)) < 0 }
        let contents = tape.contents(of: index)
        var member = contents.lowerBound
        while member < contents.upperBound {
            let key = tape.string(at: member)
            let value = member + 1
            if object.keys.ordinal(of: key) < 0, !isAbsent(value) {
                path.push(.key(key))
                output.append(UInt8(ascii: ","))
                encodeString(at: member, into: &output)
                output.append(UInt8(ascii: ":"))
                encodeFreeForm(at: value, into: &output)
                path.pop()
            }
            member = tape.end(of: value)
        }
    }
}
