/// A set of code points, as sorted ranges that are neither overlapping nor adjacent.
struct ScalarSet: Sendable, Equatable {
    static let last: UInt32 = 0x10FFFF
    static let all = ScalarSet([0...last])
    static let newline = ScalarSet(["\n"])
    static let digits = ScalarSet([0x30...0x39])
    static let wordCharacters = ScalarSet([0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    /// RE2's `\s`, which does not include the vertical tab.
    static let spaces = ScalarSet([0x09...0x0A, 0x0C...0x0D, 0x20...0x20])

    private(set) var ranges: [ClosedRange<UInt32>]

    init(_ ranges: [ClosedRange<UInt32>] = []) {
        self.ranges = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let previous = self.ranges.last, range.lowerBound <= previous.upperBound + 1 {
                let upperBound = max(previous.upperBound, range.upperBound)
                self.ranges[self.ranges.count - 1] = previous.lowerBound...upperBound
            } else {
                self.ranges.append(range)
            }
        }
    }

    init(_ scalars: [Unicode.Scalar]) {
        self.init(scalars.map { $0.value...$0.value })
    }

    func union(_ other: ScalarSet) -> ScalarSet { ScalarSet(ranges + other.ranges) }

    var complement: ScalarSet {
        var gaps: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
            next = range.upperBound + 1
        }
        if next <= Self.last { gaps.append(next...Self.last) }
        return ScalarSet(gaps)
    }

    /// The set with both cases of each ASCII letter; `nil` if it contains other letters that have cases.
    ///
    /// Unicode folds two more characters to ASCII letters: the Kelvin sign and the long s.
    var foldingCase: ScalarSet? {
        var folded = ranges
        for range in ranges {
            guard !Self.hasCase(range) else { return nil }
            for letter in range where (0x41...0x5A).contains(letter & ~0x20) {
                folded.append(letter ^ 0x20...letter ^ 0x20)
                if letter | 0x20 == 0x6B { folded.append(0x212A...0x212A) }
                if letter | 0x20 == 0x73 { folded.append(0x17F...0x17F) }
            }
        }
        return ScalarSet(folded)
    }

    /// Whether the range contains a non-ASCII character with case; assumed for large ranges.
    private static func hasCase(_ range: ClosedRange<UInt32>) -> Bool {
        guard range.upperBound >= 0x80 else { return false }
        return range.count > 0x1000
            || range.contains { value in
                guard value >= 0x80, let properties = Unicode.Scalar(value)?.properties else { return false }
                return properties.changesWhenCaseMapped || properties.changesWhenCaseFolded
            }
    }
}

// MARK: - Text

extension ScalarSet {
    /// The set as a character class that means the same in ECMAScript (with the flag `u`) and Python.
    var expression: String {
        if self == .all { return #"[\s\S]"# }
        if ranges.isEmpty { return "(?!)" }
        // A set up to the last code point is usually a negated class, and its complement is shorter.
        let isInverted = ranges.last?.upperBound == Self.last
        let listed = isInverted ? complement.ranges : ranges
        return (isInverted ? "[^" : "[") + listed.map(Self.expression(of:)).joined() + "]"
    }

    private static func expression(of range: ClosedRange<UInt32>) -> String {
        let first = member(range.lowerBound)
        switch range.count {
        case 1: return first
        case 2: return first + member(range.upperBound)
        default: return first + "-" + member(range.upperBound)
        }
    }

    private static func member(_ value: UInt32) -> String {
        value == 0x2D ? #"\-"# : literal(value)
    }

    /// A code point as a literal.
    static func literal(_ value: UInt32) -> String {
        guard let scalar = Unicode.Scalar(value) else { return unit(value) }
        if scalar.isASCII {
            if #"^$\.*+?()[]{}|/"#.unicodeScalars.contains(scalar) { return "\\" + String(Character(scalar)) }
            return (0x20..<0x7F).contains(value) ? String(Character(scalar)) : unit(value)
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned, .privateUse,
            .nonspacingMark, .enclosingMark:
            return value > 0xFFFF ? String(Character(scalar)) : unit(value)
        default:
            return String(Character(scalar))
        }
    }

    private static func unit(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return #"\u"# + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
