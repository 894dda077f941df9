/// Random changes of an event, after which it may be valid or not.
package enum EventMutation {
    /// Makes one change somewhere in a value.
    package static func mutate(_ value: ReferenceJSON, _ source: inout CaseSource) -> ReferenceJSON {
        switch value {
        case .object(var members) where !members.isEmpty && !source.once(in: 4):
            let place = source.number(0...members.count - 1)
            members[place].value = mutate(members[place].value, &source)
            return .object(members)
        case .array(var elements) where !elements.isEmpty && !source.once(in: 4):
            let place = source.number(0...elements.count - 1)
            elements[place] = mutate(elements[place], &source)
            return .array(elements)
        case .object(let members) where !source.once(in: 4):
            return .object(changingKeys(members, &source))
        default:
            return replacement(of: value, &source)
        }
    }

    private static func changingKeys(_ members: [ReferenceMember], _ source: inout CaseSource) -> [ReferenceMember] {
        var members = members
        guard !members.isEmpty else {
            return [GeneratedEvent.member(source.pick(["b", "sku", "new"]), GeneratedEvent.free(&source, depth: 2))]
        }
        let place = source.number(0...members.count - 1)
        switch source.number(0...6) {
        case 0: members.remove(at: place)
        case 1: members.append(members[place])
        case 2: members.insert(members[place], at: 0)
        case 3: members[place].key = String(codePoints: members[place].key).uppercased().unicodeScalars.map(\.value)
        case 4: members[place].key = GeneratedText.string(&source)
        case 5: members[place].key.append(source.pick([0, 0x20, 0x73, 0x301]))
        default:
            let key = source.pick([
                "A", "Sku", "unit-price", "receivedAt", "serverTime", "userid", "", "it's", "back\\slash", "новый",
            ])
            members.insert(GeneratedEvent.member(key, GeneratedEvent.free(&source, depth: 2)), at: place)
        }
        return members
    }

    private static func replacement(of value: ReferenceJSON, _ source: inout CaseSource) -> ReferenceJSON {
        switch (source.number(0...6), value) {
        case (0, .string(let text)): return .string(text + [0])
        case (1, .string(let text)): return .string(text + text + text)
        case (0...1, .number(let text)): return .text(text)
        case (2, _): return nested(value, levels: source.number(56...66), &source)
        case (3, _): return .null
        default: return GeneratedEvent.free(&source, depth: 2)
        }
    }

    private static func nested(_ value: ReferenceJSON, levels: Int, _ source: inout CaseSource) -> ReferenceJSON {
        let isArray = source.once(in: 2)
        return (0..<levels).reduce(value) { inner, _ in
            isArray ? .array([inner]) : .object([GeneratedEvent.member("k", inner)])
        }
    }

    /// Changes, removes, repeats or adds a byte.
    package static func damage(_ bytes: [UInt8], _ source: inout CaseSource) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var bytes = bytes
        let place = source.number(0...bytes.count - 1)
        switch source.number(0...4) {
        case 0: bytes[place] ^= 1 << UInt8(source.number(0...7))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(bytes[place], at: place)
        case 3: bytes.insert(UInt8(source.number(0...255)), at: place)
        default: bytes[place] = source.pick(Array("{}[]\",:\\u0eE-+.\0".utf8))
        }
        return bytes
    }
}
