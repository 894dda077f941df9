public import EventModel

extension JSONValue {
    /// Creates the value at `index` of a tape, with everything in it.
    public init(at index: Int, of tape: JSONTape) {
        switch tape.kind(at: index) {
        case .object: self = .object(Self.members(at: index, of: tape))
        case .array: self = .array(Self.elements(at: index, of: tape))
        case .string: self = .string(String(decoding: tape.string(at: index), as: UTF8.self))
        case .signed: self = .integer(tape.signed(at: index))
        case .unsigned: self = .number(Double(tape.unsigned(at: index)))
        case .double: self = .number(tape.nearestDouble(at: index))
        case .true: self = true
        case .false: self = false
        default: self = nil
        }
    }

    /// Reads a text of JSON; `nil` if it is not one.
    package init?(json text: some Collection<UInt8>) {
        var padded = Array(text)
        padded.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        var parser = JSONParser()
        let value = padded.withUnsafeBytes { bytes in
            (try? parser.parse(UnsafeRawBufferPointer(rebasing: bytes[..<text.count])))
                .map { JSONValue(at: $0.root, of: $0) }
        }
        guard let value else { return nil }
        self = value
    }

    private static func elements(at index: Int, of tape: JSONTape) -> [JSONValue] {
        var elements: [JSONValue] = []
        let contents = tape.contents(of: index)
        var element = contents.lowerBound
        while element < contents.upperBound {
            elements.append(JSONValue(at: element, of: tape))
            element = tape.end(of: element)
        }
        return elements
    }

    private static func members(at index: Int, of tape: JSONTape) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        let contents = tape.contents(of: index)
        var member = contents.lowerBound
        while member < contents.upperBound {
            members[String(decoding: tape.string(at: member), as: UTF8.self)] = JSONValue(at: member + 1, of: tape)
            member = tape.end(of: member + 1)
        }
        return members
    }
}
