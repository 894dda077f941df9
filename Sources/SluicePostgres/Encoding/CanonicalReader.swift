#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads one event's line of canonical JSON.
///
/// There is a reason for a second JSON reader beside the tape: Sluice wrote this text itself, in a known order and without
/// spaces, so comparing bytes finds a key. A `jsonb` column needs the unchanged text, and a `numeric` column the digits,
/// neither of which the tape holds. The tape would also need a copy of each line, with padding after it.
///
/// The reader does not rely on the text being canonical: whatever it reads, it stays within the line.
struct CanonicalReader {
    private let start: UnsafePointer<UInt8>
    private let count: Int
    private(set) var position = 0

    /// Reads `line`, which must outlive the reader; `nil` if it is empty.
    @inline(__always)
    init?(_ line: UnsafeRawBufferPointer) {
        guard let base = line.baseAddress, line.count > 0 else { return nil }
        start = base.assumingMemoryBound(to: UInt8.self)
        count = line.count
    }

    /// The next byte; 0 at the end.
    @inline(__always)
    var next: UInt8 { position < count ? start[position] : 0 }

    @inline(__always)
    var isAtEnd: Bool { position == count }

    /// Skips `byte` if it is next.
    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Skips `token`, a key with its quotes and colon, if it is next.
    @inline(__always)
    mutating func take(_ token: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = token.baseAddress, token.count >= 3, count - position >= token.count else { return false }
        // Most keys already differ in the first letter after the quote.
        guard start[position + 1] == first[1], memcmp(start + position, first, token.count) == 0 else { return false }
        position += token.count
        return true
    }

    /// Skips `null` if it is next.
    @inline(__always)
    mutating func takeNull() -> Bool {
        // No other value begins with this letter.
        guard next == UInt8(ascii: "n"), count - position >= 4 else { return false }
        position += 4
        return true
    }

    @inline(__always)
    func bytes(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
    }

    /// Skips a string and returns the text between its quotes, and whether it contains escapes.
    @inline(__always)
    mutating func takeString() -> (text: UnsafeRawBufferPointer, hasEscapes: Bool)? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let begin = position
        var hasEscapes = false
        while true {
            skipPlainText()
            guard position < count else { return nil }
            if start[position] == UInt8(ascii: "\"") {
                position += 1
                return (bytes(begin..<position - 1), hasEscapes)
            }
            hasEscapes = true
            guard count - position >= 2 else { return nil }
            position += 2  // the backslash and the character that it escapes
        }
    }

    /// Moves to the next quote or backslash, or to the end.
    @inline(__always)
    private mutating func skipPlainText() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        while count - position >= 8 {
            let word = UInt64(littleEndian: UnsafeRawPointer(start + position).loadUnaligned(as: UInt64.self))
            let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
            let slashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            // A byte above a match can be marked by mistake, but the lowest mark is always right, so only that one counts.
            let marks = (((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes)) & tops
            if marks != 0 {
                position += marks.trailingZeroBitCount >> 3
                return
            }
            position += 8
        }
        while position < count, start[position] != UInt8(ascii: "\""), start[position] != UInt8(ascii: "\\") {
            position += 1
        }
    }

    /// Skips a number, `true`, `false` or `null` and returns its text, which is never empty.
    @inline(__always)
    mutating func takeScalar() -> UnsafeRawBufferPointer? {
        let begin = position
        while position < count {
            let byte = start[position]
            if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { break }
            position += 1
        }
        return position > begin ? bytes(begin..<position) : nil
    }

    /// Skips a value of any kind and returns its text.
    mutating func takeValue() -> UnsafeRawBufferPointer? {
        let begin = position
        switch next {
        case UInt8(ascii: "\""):
            guard takeString() != nil else { return nil }
            return bytes(begin..<position)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            return skipNested() ? bytes(begin..<position) : nil
        default:
            return takeScalar()
        }
    }

    /// Skips an object or array without recursion; depth is a counter, so deep nesting cannot exhaust the stack.
    private mutating func skipNested() -> Bool {
        var depth = 0
        while position < count {
            switch start[position] {
            case UInt8(ascii: "\""):
                guard takeString() != nil else { return false }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 {
                    position += 1
                    return true
                }
            default:
                break
            }
            position += 1
        }
        return false
    }
}
