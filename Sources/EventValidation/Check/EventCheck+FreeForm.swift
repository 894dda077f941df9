import CXXHash
@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape

extension EventCheck {
    /// Appends a value that the plan does not describe, which only must not contain NUL characters, lone surrogates, duplicate
    /// keys, too many levels, or numbers that readers cannot hold.
    mutating func encodeFreeForm(at index: Int, into output: inout ByteBuilder) {
        switch tape.kind(at: index) {
        case .object:
            guard descend() else { return }
            encodeFreeFormObject(at: index, into: &output)
            depth -= 1
        case .array:
            guard descend() else { return }
            encodeFreeFormArray(at: index, into: &output)
            depth -= 1
        case .string:
            encodeString(at: index, into: &output)
        case .double:
            encodeFreeFormNumber(at: index, into: &output)
        default:
            tape.appendScalar(at: index, to: &output)
        }
    }

    /// A number of at most so many bytes with a point or an exponent has at most 15 digits, which a double keeps.
    private static var maximumShortNumberBytes: Int { 16 }

    /// Appends a number with all its digits.
    private mutating func encodeFreeFormNumber(at index: Int, into output: inout ByteBuilder) {
        let value = tape.double(at: index)
        // Nearer to zero, a double loses digits.
        let isShort = value.isNormal && !mayHaveLongNumber()
        if isShort { output.append(value) } else { encodeExactNumber(at: index, into: &output) }
    }

    private mutating func mayHaveLongNumber() -> Bool {
        if let known = mayHaveLongNumbers { return known }
        let found = tape.mayHaveNumber(longerThan: Self.maximumShortNumberBytes)
        mayHaveLongNumbers = found
        return found
    }

    @inline(never)
    private mutating func encodeExactNumber(at index: Int, into output: inout ByteBuilder) {
        let (value, sent) = (tape.nearestDouble(at: index), numberText(at: index))
        guard let exact = ExactDecimal(text: sent), value.isFinite else { return reportNumber() }
        // Where the double keeps all digits, the number has the same form as all others.
        if ExactDecimal(value) == exact { output.append(value) } else { output.append(sent) }
    }

    private mutating func reportNumber() {
        guard isDescribed(.outOfRange) else { return }
        let expected = "a number within the range of a double, of at most \(ExactDecimal.maximumDigits) digits"
        report(.outOfRange, expected: expected, found: "a number out of range")
    }

    /// Appends the object at `index` as `encodeFreeForm` does, without its own members that are absent.
    mutating func encodePresentMembers(ofObjectAt index: Int, into output: inout ByteBuilder) {
        guard descend() else { return }
        encodeFreeFormObject(at: index, omitsAbsent: true, into: &output)
        depth -= 1
    }

    private mutating func encodeFreeFormObject(
        at index: Int,
        omitsAbsent: Bool = false,
        into output: inout ByteBuilder
    ) {
        reportDuplicateKeys(ofObjectAt: index) { _ in true }
        let contents = tape.contents(of: index)
        var member = contents.lowerBound
        output.append(UInt8(ascii: "{"))
        let start = output.count
        while member < contents.upperBound {
            guard !omitsAbsent || !isAbsent(member + 1) else {
                member = tape.end(of: member + 1)
                continue
            }
            if output.count > start { output.append(UInt8(ascii: ",")) }
            path.push(.key(tape.string(at: member)))
            encodeString(at: member, into: &output)
            output.append(UInt8(ascii: ":"))
            encodeFreeForm(at: member + 1, into: &output)
            path.pop()
            member = tape.end(of: member + 1)
        }
        output.append(UInt8(ascii: "}"))
    }

    private mutating func encodeFreeFormArray(at index: Int, into output: inout ByteBuilder) {
        let contents = tape.contents(of: index)
        var element = contents.lowerBound
        var position = 0
        output.append(UInt8(ascii: "["))
        while element < contents.upperBound {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            path.push(.index(position))
            encodeFreeForm(at: element, into: &output)
            path.pop()
            element = tape.end(of: element)
            position += 1
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Appends the string at `index`, and reports characters that some trackers cannot store.
    @inline(__always)
    mutating func encodeString(at index: Int, into output: inout ByteBuilder) {
        let text = tape.string(at: index)
        guard tape.hasEscapes else { return output.appendPlainString(text) }
        let problems = output.appendString(text)
        if !problems.isEmpty { report(problems) }
    }

    /// Reports each key that is repeated, among those for which `isRelevant` is true.
    @inline(never)
    mutating func reportDuplicateKeys(ofObjectAt index: Int, isRelevant: (Int) -> Bool) {
        let contents = tape.contents(of: index)
        var keys: [Int] = []
        var member = contents.lowerBound
        while member < contents.upperBound {
            if isRelevant(member) { keys.append(member) }
            member = tape.end(of: member + 1)
        }
        // A few keys are compared pairwise.
        guard keys.count > 8 else {
            for (position, key) in keys.enumerated() {
                if keys[..<position].contains(where: { isSameKey($0, key) }) { reportDuplicate(key) }
            }
            return
        }
        var size = 16
        while size < keys.count * 2 { size *= 2 }
        // The tape never begins with a key, so 0 is an empty slot.
        var seen = [Int](repeating: 0, count: size)
        for key in keys {
            var slot = hash(ofKey: key) & (size - 1)
            while seen[slot] != 0, !isSameKey(seen[slot], key) { slot = (slot + 1) & (size - 1) }
            if seen[slot] == 0 { seen[slot] = key } else { reportDuplicate(key) }
        }
    }

    /// Different in each process, so that no sender can choose keys that collide.
    private static let hashSeed = UInt64.random(in: .min ... .max)

    private func hash(ofKey key: Int) -> Int {
        let text = tape.string(at: key)
        return Int(truncatingIfNeeded: XXH3_64bits_withSeed(text.baseAddress, text.count, Self.hashSeed) >> 1)
    }

    private func isSameKey(_ left: Int, _ right: Int) -> Bool {
        let (left, right) = (tape.string(at: left), tape.string(at: right))
        guard left.count == right.count else { return false }
        guard let a = left.baseAddress, let b = right.baseAddress else { return true }
        return ByteTable.areEqual(a, b, left.count)
    }

    @inline(never)
    private mutating func reportDuplicate(_ key: Int) {
        guard isDescribed(.malformedJSON) else { return }
        report(.malformedJSON, at: .key(tape.string(at: key)), expected: "each key once", found: "the key again")
    }
}
