/// A second JSON parser, which follows the rules of RFC 8259 one code point at a time.
package struct ReferenceParser {
    package enum Outcome: Equatable {
        case value(ReferenceJSON)
        /// The text is invalid.
        case malformed
    }

    private struct Broken: Error {}

    private let text: [UInt32]
    private var position = 0

    package static func parse(_ bytes: [UInt8]) -> Outcome {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .malformed
        }
        var parser = ReferenceParser(text: text.unicodeScalars.map(\.value))
        do {
            return .value(try parser.document())
        } catch {
            return .malformed
        }
    }

    private init(text: [UInt32]) {
        self.text = text
    }

    private mutating func document() throws -> ReferenceJSON {
        skipSpace()
        let value = try value()
        skipSpace()
        guard position == text.count else { throw Broken() }
        return value
    }

    private mutating func value() throws -> ReferenceJSON {
        switch peek {
        case "{": return try object()
        case "[": return try array()
        case "\"": return .string(try string())
        case "t": return try literal("true", .boolean(true))
        case "f": return try literal("false", .boolean(false))
        case "n": return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object() throws -> ReferenceJSON {
        try take("{")
        var members: [ReferenceMember] = []
        skipSpace()
        if peek == "}" {
            position += 1
            return .object(members)
        }
        while true {
            skipSpace()
            let key = try string()
            skipSpace()
            try take(":")
            skipSpace()
            members.append(ReferenceMember(key: key, value: try value()))
            skipSpace()
            if peek == "}" { break }
            try take(",")
        }
        try take("}")
        return .object(members)
    }

    private mutating func array() throws -> ReferenceJSON {
        try take("[")
        var elements: [ReferenceJSON] = []
        skipSpace()
        if peek == "]" {
            position += 1
            return .array(elements)
        }
        while true {
            skipSpace()
            elements.append(try value())
            skipSpace()
            if peek == "]" { break }
            try take(",")
        }
        try take("]")
        return .array(elements)
    }

    private mutating func literal(_ word: String, _ value: ReferenceJSON) throws -> ReferenceJSON {
        for scalar in word.unicodeScalars { try take(scalar) }
        // A literal that is followed by a letter or digit is another word.
        if let next = peek, next.properties.isAlphabetic || next.properties.numericType != nil { throw Broken() }
        return value
    }

    // MARK: Characters

    private var peek: Unicode.Scalar? { position < text.count ? Unicode.Scalar(text[position]) : nil }

    private mutating func take(_ wanted: Unicode.Scalar) throws {
        guard peek == wanted else { throw Broken() }
        position += 1
    }

    private mutating func skipSpace() {
        while let scalar = peek, [" ", "\t", "\n", "\r"].contains(scalar) { position += 1 }
    }
}

// MARK: - Strings

extension ReferenceParser {
    private mutating func string() throws -> [UInt32] {
        try take("\"")
        var units: [UInt32] = []
        while true {
            guard let scalar = peek, scalar.value >= 0x20 else { throw Broken() }
            position += 1
            if scalar == "\"" { return try joiningSurrogates(units) }
            units.append(scalar == "\\" ? try escape() : scalar.value)
        }
    }

    private mutating func escape() throws -> UInt32 {
        guard let letter = peek else { throw Broken() }
        position += 1
        switch letter {
        case "\"", "\\", "/": return letter.value
        case "b": return 8
        case "f": return 12
        case "n": return 10
        case "r": return 13
        case "t": return 9
        case "u":
            guard position + 4 <= text.count else { throw Broken() }
            let digits = String(codePoints: Array(text[position..<position + 4]))
            guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }), let unit = UInt32(digits, radix: 16) else {
                throw Broken()
            }
            position += 4
            return unit
        default: throw Broken()
        }
    }

    /// Valid UTF-8 has no surrogates, so each one was escaped, and must be half of a pair.
    private func joiningSurrogates(_ units: [UInt32]) throws -> [UInt32] {
        var text: [UInt32] = []
        var high: UInt32?
        for unit in units {
            switch (high, unit) {
            case (let first?, 0xDC00...0xDFFF):
                text.append(0x10000 + (first - 0xD800) * 0x400 + (unit - 0xDC00))
                high = nil
            case (nil, 0xD800...0xDBFF):
                high = unit
            case (.some, _), (nil, 0xDC00...0xDFFF):
                throw Broken()
            default:
                text.append(unit)
            }
        }
        guard high == nil else { throw Broken() }
        return text
    }
}

// MARK: - Numbers

extension ReferenceParser {
    private mutating func number() throws -> String {
        let start = position
        if peek == "-" { position += 1 }
        let whole = digits()
        guard !whole.isEmpty, whole == "0" || whole.first != "0" else { throw Broken() }
        if peek == "." {
            position += 1
            guard !digits().isEmpty else { throw Broken() }
        }
        if peek == "e" || peek == "E" {
            position += 1
            if peek == "+" || peek == "-" { position += 1 }
            guard !digits().isEmpty else { throw Broken() }
        }
        return String(codePoints: Array(text[start..<position]))
    }

    private mutating func digits() -> String {
        var digits = ""
        while let scalar = peek, ("0"..."9").contains(scalar) {
            digits.unicodeScalars.append(scalar)
            position += 1
        }
        return digits
    }
}
