/// Reads the small part of RE2's syntax that a plain pattern consists of; `nil` for anything else.
struct PlainPatternReader {
    private let source: [UInt8]
    private var position = 0

    init(_ source: String) {
        self.source = Array(source.utf8)
    }

    /// The steps between `^` and `$`.
    mutating func read() -> [PlainPattern.Step]? {
        guard take("^") else { return nil }
        var steps: [PlainPattern.Step] = []
        while !(position == source.count - 1 && next == UInt8(ascii: "$")) {
            guard let characters = readCharacters(), let (least, most) = readRepetition() else { return nil }
            steps.append(PlainPattern.Step(characters: characters, least: least, most: most))
        }
        return steps
    }

    private var next: UInt8? { position < source.count ? source[position] : nil }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    // MARK: Characters

    private mutating func readCharacters() -> ASCIISet? {
        if take("[") { return readClass() }
        if take("\\") { return readEscape() }
        guard let byte = next, Self.isLiteral(byte) else { return nil }
        position += 1
        return ASCIISet(byte)
    }

    private mutating func readClass() -> ASCIISet? {
        guard next != UInt8(ascii: "^"), next != UInt8(ascii: "]") else { return nil }
        var characters = ASCIISet()
        while !take("]") {
            if take("\\") {
                guard let escaped = readEscape(), next != UInt8(ascii: "-") else { return nil }
                characters.formUnion(escaped)
                continue
            }
            guard let first = readMember() else { return nil }
            guard next == UInt8(ascii: "-"), position + 1 < source.count, source[position + 1] != UInt8(ascii: "]")
            else {
                characters.insert(first...first)
                continue
            }
            position += 1
            guard let last = readMember(), first <= last else { return nil }
            characters.insert(first...last)
        }
        return characters
    }

    /// A literal character in a class.
    ///
    /// A hyphen is one only at either end; elsewhere the pattern is left to RE2.
    private mutating func readMember() -> UInt8? {
        guard let byte = next, Self.isLiteral(byte) || ".|?*+(){}$".utf8.contains(byte) else { return nil }
        if byte == UInt8(ascii: "-") {
            let isFirst = position > 0 && source[position - 1] == UInt8(ascii: "[")
            let isLast = position + 1 < source.count && source[position + 1] == UInt8(ascii: "]")
            guard isFirst || isLast else { return nil }
        }
        position += 1
        return byte
    }

    private mutating func readEscape() -> ASCIISet? {
        guard let byte = next else { return nil }
        position += 1
        var characters = ASCIISet()
        switch byte {
        case UInt8(ascii: "w"):
            characters.insert(UInt8(ascii: "a")...UInt8(ascii: "z"))
            characters.insert(UInt8(ascii: "A")...UInt8(ascii: "Z"))
            characters.insert(UInt8(ascii: "_")...UInt8(ascii: "_"))
            fallthrough
        case UInt8(ascii: "d"):
            characters.insert(UInt8(ascii: "0")...UInt8(ascii: "9"))
        case _ where Self.isPunctuation(byte):
            characters.insert(byte...byte)
        default:
            return nil
        }
        return characters
    }

    private static func isLiteral(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && !"\\^$.|?*+()[]{}".utf8.contains(byte)
    }

    private static func isPunctuation(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: byte != UInt8(ascii: "_")
        default: false
        }
    }

    // MARK: Repetition

    private mutating func readRepetition() -> (least: Int, most: Int)? {
        let repetition: (Int, Int)? =
            if take("?") {
                (0, 1)
            } else if take("*") {
                (0, .max)
            } else if take("+") {
                (1, .max)
            } else if take("{") {
                readCounts()
            } else {
                (1, 1)
            }
        // A second operator makes the first one lazy, or repeats a repetition.
        if let byte = next, "?*+{".utf8.contains(byte) { return nil }
        return repetition
    }

    private mutating func readCounts() -> (Int, Int)? {
        guard let least = readNumber() else { return nil }
        if take("}") { return (least, least) }
        guard take(",") else { return nil }
        if take("}") { return (least, .max) }
        guard let most = readNumber(), least <= most, take("}") else { return nil }
        return (least, most)
    }

    private mutating func readNumber() -> Int? {
        let digits = source[position...].prefix(4).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        position += digits.count
        return Int(String(decoding: digits, as: UTF8.self))
    }
}

extension ASCIISet {
    fileprivate init(_ byte: UInt8) {
        insert(byte...byte)
    }

    fileprivate mutating func formUnion(_ other: ASCIISet) {
        for byte in 0..<UInt8(128) where other.contains(byte) { insert(byte...byte) }
    }
}
