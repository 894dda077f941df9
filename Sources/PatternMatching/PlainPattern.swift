/// A pattern that is a row of ASCII character classes from the text's start to its end, as `^[A-Z]?[0-9]{6}$` is.
///
/// Most patterns of most plans are, and a row is matched in less time than RE2 takes to begin.
package struct PlainPattern {
    /// A class of characters, and how many of it stand in a row.
    package struct Step: BitwiseCopyable {
        package var characters = ASCIISet()
        package var least = 1
        package var most = 1
    }

    /// From the text's start to its end.
    package let steps: [Step]

    /// Takes a pattern that RE2 takes; `nil` where it is no such row, or where a row of such steps could be matched in
    /// more than one way.
    package init?(_ source: String) {
        var reader = PlainPatternReader(source)
        guard let steps = reader.read(), Self.areDistinct(steps) else { return nil }
        self.steps = steps
    }

    /// Whether each step may take all it can: what may follow it begins with none of its characters.
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

extension UnsafeBufferPointer<PlainPattern.Step> {
    /// Whether the UTF-8 text, all of it, is such a row.
    @inline(__always)
    package func match(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let start = text.baseAddress else { return allSatisfy { $0.least == 0 } }
        var position = start
        let textEnd = start + text.count
        for step in self {
            let first = position
            let end = step.most < textEnd - first ? first + step.most : textEnd
            while position < end, step.characters.contains(position.load(as: UInt8.self)) { position += 1 }
            if position - first < step.least { return false }
        }
        return position == textEnd
    }
}

/// A set of ASCII characters.
package struct ASCIISet: BitwiseCopyable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    @inline(__always)
    package func contains(_ byte: UInt8) -> Bool {
        let half = byte < 64 ? low : high
        return byte < 128 && half &>> UInt64(byte) & 1 == 1
    }

    package mutating func insert(_ range: ClosedRange<UInt8>) {
        for byte in range {
            if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
        }
    }

    package func isDisjoint(with other: ASCIISet) -> Bool {
        low & other.low == 0 && high & other.high == 0
    }
}
