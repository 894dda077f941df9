/// Reads the elements of RE2's syntax from a pattern that RE2 has accepted.
struct PatternReader {
    /// The meaning of an escape.
    enum Escape {
        case scalar(UInt32)
        case set(ScalarSet)
    }

    typealias Untranslatable = PatternTranslator.Untranslatable

    private let source: [Unicode.Scalar]
    private var position = 0

    init(_ source: String) {
        self.source = Array(source.unicodeScalars)
    }

    var isAtEnd: Bool { position == source.count }
    var next: Unicode.Scalar? { position < source.count ? source[position] : nil }

    mutating func takeNext() -> Unicode.Scalar? {
        guard let next else { return nil }
        position += 1
        return next
    }

    mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard source[position...].starts(with: wanted) else { return false }
        position += wanted.count
        return true
    }

    /// Reads up to and including `text`, and returns what precedes it; `nil`, without reading, if the text does not occur.
    private mutating func take(upTo end: String) -> [Unicode.Scalar]? {
        let start = position
        while !isAtEnd {
            let found = position
            if take(end) { return Array(source[start..<found]) }
            position += 1
        }
        position = start
        return nil
    }

    // MARK: Repetitions

    /// The operator, if any, without the mark of a lazy one, which does not affect whether a text matches.
    mutating func takeRepetition() -> String {
        for sign in ["*", "+", "?"] where take(sign) {
            _ = take("?")
            return sign
        }
        guard let counts = takeCounts() else { return "" }
        _ = take("?")
        return counts
    }

    /// `{n}`, `{n,}` or `{n,m}`; any other brace is a literal.
    private mutating func takeCounts() -> String? {
        let start = position
        guard take("{"), let inner = take(upTo: "}") else {
            position = start
            return nil
        }
        let counts = inner.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        let areNumbers = counts.allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } }
        guard areNumbers, counts.first?.isEmpty == false else {
            position = start
            return nil
        }
        return "{" + counts.map { String(String.UnicodeScalarView($0)) }.joined(separator: ",") + "}"
    }

    // MARK: Groups

    /// `P<name>` or `<name>`.
    mutating func takeGroupName() -> Bool {
        let start = position
        if take("P<") || take("<"), take(upTo: ">") != nil { return true }
        position = start
        return false
    }

    /// Reads flags; true if they are the whole group (`ims-ims)`), false if its content follows (`ims-ims:`).
    mutating func takeFlags(_ flags: inout PatternTranslator.Flags) throws(Untranslatable) -> Bool {
        var value = true
        while let flag = takeNext() {
            switch flag {
            case "i": flags.ignoresCase = value
            case "m": flags.isMultiline = value
            case "s": flags.dotMatchesNewline = value
            case "U": break
            case "-": value = false
            case ":": return false
            case ")": return true
            default: throw Untranslatable()
            }
        }
        throw Untranslatable()
    }

    mutating func takeQuotation() -> [Unicode.Scalar] {
        if let quoted = take(upTo: #"\E"#) { return quoted }
        defer { position = source.count }
        return Array(source[position...])
    }

    // MARK: Escapes

    private static let controls: [Unicode.Scalar: UInt32] = [
        "a": 0x07, "f": 0x0C, "t": 0x09, "n": 0x0A, "r": 0x0D, "v": 0x0B,
    ]
    private static let sets: [Unicode.Scalar: ScalarSet] = ["d": .digits, "w": .wordCharacters, "s": .spaces]

    /// The character or characters that the text after a backslash denotes, if any.
    mutating func takeEscape(ignoringCase: Bool) throws(Untranslatable) -> Escape {
        guard let scalar = takeNext() else { throw Untranslatable() }
        if let set = Self.sets[scalar] { return .set(try Self.folded(set, ignoringCase)) }
        if let set = Self.sets[Unicode.Scalar(scalar.value | 0x20) ?? scalar] {
            return .set(try Self.folded(set, ignoringCase).complement)
        }
        if let control = Self.controls[scalar] { return .scalar(control) }
        if scalar == "x" { return .scalar(try takeHexadecimal()) }
        if ("0"..."7").contains(scalar) { return .scalar(takeOctal(first: scalar)) }
        let isPunctuation = scalar.isASCII && !scalar.properties.isAlphabetic && !("8"..."9").contains(scalar)
        guard isPunctuation else { throw Untranslatable() }
        return .scalar(scalar.value)
    }

    private mutating func takeHexadecimal() throws(Untranslatable) -> UInt32 {
        let digits: [Unicode.Scalar]
        if take("{") {
            digits = take(upTo: "}") ?? []
        } else {
            digits = Array(source[position...].prefix(2))
            position += digits.count
        }
        guard let value = UInt32(String(String.UnicodeScalarView(digits)), radix: 16), value <= ScalarSet.last else {
            throw Untranslatable()
        }
        return value
    }

    private mutating func takeOctal(first: Unicode.Scalar) -> UInt32 {
        var value = first.value - 0x30
        for _ in 0..<2 {
            guard let digit = next, ("0"..."7").contains(digit) else { break }
            value = value * 8 + digit.value - 0x30
            position += 1
        }
        return value
    }

    /// RE2 applies case folding to each part of a class before it combines them.
    private static func folded(_ set: ScalarSet, _ ignoringCase: Bool) throws(Untranslatable) -> ScalarSet {
        guard ignoringCase else { return set }
        guard let folded = set.foldingCase else { throw Untranslatable() }
        return folded
    }

    // MARK: Classes

    /// A character class, from after its `[` to its end.
    mutating func takeClass(ignoringCase: Bool) throws(Untranslatable) -> ScalarSet {
        let isNegated = take("^")
        var set = ScalarSet()
        var isFirst = true
        while isFirst || next != "]" {
            set = set.union(try takeMembers(ignoringCase: ignoringCase))
            isFirst = false
        }
        _ = take("]")
        return isNegated ? set.complement : set
    }

    private mutating func takeMembers(ignoringCase: Bool) throws(Untranslatable) -> ScalarSet {
        if take("[:") { return try takeNamedClass(ignoringCase: ignoringCase) }
        let first: UInt32
        switch try takeMember(ignoringCase: ignoringCase) {
        case .set(let set): return set
        case .scalar(let value): first = value
        }
        // A hyphen before the closing bracket is a literal.
        guard next == "-", position + 1 < source.count, source[position + 1] != "]" else {
            return try Self.folded(ScalarSet([first...first]), ignoringCase)
        }
        position += 1
        guard case .scalar(let last) = try takeMember(ignoringCase: ignoringCase), first <= last else {
            throw Untranslatable()
        }
        return try Self.folded(ScalarSet([first...last]), ignoringCase)
    }

    private mutating func takeMember(ignoringCase: Bool) throws(Untranslatable) -> Escape {
        guard let scalar = takeNext() else { throw Untranslatable() }
        return scalar == "\\" ? try takeEscape(ignoringCase: ignoringCase) : .scalar(scalar.value)
    }

    private static let namedClasses: [String: ScalarSet] = [
        "alnum": ScalarSet([0x30...0x39, 0x41...0x5A, 0x61...0x7A]), "alpha": ScalarSet([0x41...0x5A, 0x61...0x7A]),
        "ascii": ScalarSet([0x00...0x7F]), "blank": ScalarSet(["\t", " "]),
        "cntrl": ScalarSet([0x00...0x1F, 0x7F...0x7F]), "digit": .digits, "graph": ScalarSet([0x21...0x7E]),
        "lower": ScalarSet([0x61...0x7A]), "print": ScalarSet([0x20...0x7E]),
        "punct": ScalarSet([0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]),
        "space": ScalarSet([0x09...0x0D, 0x20...0x20]), "upper": ScalarSet([0x41...0x5A]), "word": .wordCharacters,
        "xdigit": ScalarSet([0x30...0x39, 0x41...0x46, 0x61...0x66]),
    ]

    private mutating func takeNamedClass(ignoringCase: Bool) throws(Untranslatable) -> ScalarSet {
        let isNegated = take("^")
        guard let name = take(upTo: ":]"), let set = Self.namedClasses[String(String.UnicodeScalarView(name))] else {
            throw Untranslatable()
        }
        let folded = try Self.folded(set, ignoringCase)
        return isNegated ? folded.complement : folded
    }
}
