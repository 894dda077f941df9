/// A pattern that is a sequence of ASCII character classes and matches the whole text, such as `^[A-Z]?[0-9]{6}$`.
///
/// Most patterns of most plans are like this, and matching one takes less time than RE2 needs to start.
public struct PlainPattern {
    /// A class of characters, and how often it is repeated.
    public struct Step: BitwiseCopyable {
        /// The characters that match.
        public var characters = ASCIISet()
        /// The minimum number of characters.
        public var least = 1
        /// The maximum number of characters.
        public var most = 1
    }

    /// The steps from the start of the text to its end.
    public let steps: [Step]

    /// Reads a pattern that RE2 accepts; `nil` if it has any other form, or if it would need backtracking.
    public init?(_ source: String) {
        var reader = PlainPatternReader(source)
        guard let steps = reader.read(), Self.areDistinct(steps) else { return nil }
        self.steps = steps
    }

    /// Whether each step may match greedily, because nothing that may follow it begins with one of its characters.
    private static func areDistinct(_ steps: [Step]) -> Bool {
        for (position, step) in steps.enumerated() where step.least != step.most {
            for follower in steps[(position + 1)...] {
                if !step.characters.isDisjoint(with: follower.characters) { return false }
                if follower.least > 0 { break }
            }
        }
        return true
    }
}

extension PlainPattern {
    /// Whether the whole UTF-8 text matches the steps.
    @inlinable
    @inline(__always)
    public static func matches(_ text: UnsafeRawBufferPointer, steps: UnsafeBufferPointer<Step>) -> Bool {
        guard let start = text.baseAddress else { return steps.allSatisfy { $0.least == 0 } }
        var position = start
        let textEnd = start + text.count
        for step in steps {
            let first = position
            let end = step.most < textEnd - first ? first + step.most : textEnd
            while position < end, step.characters.contains(position.load(as: UInt8.self)) { position += 1 }
            if position - first < step.least { return false }
        }
        return position == textEnd
    }
}

/// A set of ASCII characters.
public struct ASCIISet: BitwiseCopyable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: UInt64 = 0

    /// Whether the byte is one of the characters.
    @inlinable
    @inline(__always)
    public func contains(_ byte: UInt8) -> Bool {
        let half = byte < 64 ? low : high
        return byte < 128 && half &>> UInt64(byte) & 1 == 1
    }

    mutating func insert(_ range: ClosedRange<UInt8>) {
        for byte in range {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
        }
    }

    func isDisjoint(with other: ASCIISet) -> Bool {
        low & other.low == 0 && high & other.high == 0
    }
}
