import CXXHash
import EventModel
import JSONTape

extension EventCheck {
    /// Appends a value of any kind, looking only for what no reader could take: NUL, lone surrogates, keys that
    /// come twice, and nesting without end.
    mutating func encodeFree(at index: Int, into output: inout ByteBuilder) {
        switch tape.kind(at: index) {
        case .object:
            guard descend() else { return }
            encodeFreeObject(at: index, into: &output)
            depth -= 1
        case .array:
            guard descend() else { return }
            encodeFreeArray(at: index, into: &output)
            depth -= 1
        case .string:
            encodeString(at: index, into: &output)
        default:
            output.appendScalar(at: index, of: tape)
        }
    }

    private mutating func encodeFreeObject(at index: Int, into output: inout ByteBuilder) {
        reportDuplicateKeys(ofObjectAt: index) { _ in true }
        let contents = tape.contents(of: index)
        var member = contents.lowerBound
        output.append(UInt8(ascii: "{"))
        while member < contents.upperBound {
            if member > contents.lowerBound { output.append(UInt8(ascii: ",")) }
            path.push(.key(tape.string(at: member)))
            encodeString(at: member, into: &output)
            output.append(UInt8(ascii: ":"))
            encodeFree(at: member + 1, into: &output)
            path.pop()
            member = tape.end(of: member + 1)
        }
        output.append(UInt8(ascii: "}"))
    }

    private mutating func encodeFreeArray(at index: Int, into output: inout ByteBuilder) {
        let contents = tape.contents(of: index)
        var element = contents.lowerBound
        var position = 0
        output.append(UInt8(ascii: "["))
        while element < contents.upperBound {
            if position > 0 { output.append(UInt8(ascii: ",")) }
            path.push(.index(position))
            encodeFree(at: element, into: &output)
            path.pop()
            element = tape.end(of: element)
            position += 1
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Appends the string at `index`, and notes what it holds that not every tracker could store.
    @inline(__always)
    mutating func encodeString(at index: Int, into output: inout ByteBuilder) {
        let text = tape.string(at: index)
        guard tape.hasEscapes else { return output.appendPlainString(text) }
        let problems = output.appendString(text)
        if !problems.isEmpty { report(problems) }
    }

    @inline(never)
    private mutating func report(_ problems: TextProblems) {
        guard isDescribed(.malformedJSON) else { return }
        if problems.contains(.nul) {
            report(.malformedJSON, expected: "text without NUL characters", found: "a string with one")
        }
        if problems.contains(.loneSurrogate) {
            report(.malformedJSON, expected: "Unicode text", found: "a string with half of a surrogate pair")
        }
    }

    /// Notes each key that comes again; only those that `isRelevant` counts.
    @inline(never)
    mutating func reportDuplicateKeys(ofObjectAt index: Int, isRelevant: (Int) -> Bool) {
        let contents = tape.contents(of: index)
        var keys: [Int] = []
        var member = contents.lowerBound
        while member < contents.upperBound {
            if isRelevant(member) { keys.append(member) }
            member = tape.end(of: member + 1)
        }
        // A handful is compared pair by pair.
        guard keys.count > 8 else {
            for (position, key) in keys.enumerated() {
                if keys[..<position].contains(where: { isSameKey($0, key) }) { reportDuplicate(key) }
            }
            return
        }
        var size = 16
        while size < keys.count * 2 { size *= 2 }
        // No key stands at the beginning of the tape, so 0 is an empty slot.
        var seen = [Int](repeating: 0, count: size)
        for key in keys {
            var slot = hash(ofKey: key) & (size - 1)
            while seen[slot] != 0, !isSameKey(seen[slot], key) { slot = (slot + 1) & (size - 1) }
            if seen[slot] == 0 { seen[slot] = key } else { reportDuplicate(key) }
        }
    }

    /// Another one in each process, so that no sender can choose keys that collide.
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
