/// An event's canonical JSON, and the positions of the envelope's fields in it.
///
/// The canonical form fixes the order of the keys and has no spaces, so a scan of the beginning of the line finds the
/// envelope; context and payload are not read. Any bytes may be given: `nil` if they do not begin like a canonical event.
///
/// A range covers the text between the quotation marks, with its escapes; `text(of:)` resolves them. The memory belongs to the
/// caller, and must outlive the value.
public struct CanonicalLine {
    /// The line, without its newline.
    public let bytes: UnsafeRawBufferPointer
    /// The event's id.
    public let id: Range<Int>
    /// The event's name.
    public let name: Range<Int>
    /// When the event happened, in RFC 3339.
    public let time: Range<Int>
    /// When the event arrived, in RFC 3339.
    public let receivedAt: Range<Int>
    /// The user; `nil` if absent.
    public let userID: Range<Int>?
    /// The user before they are known, such as the value of a cookie; `nil` if absent.
    public let anonymousID: Range<Int>?
    /// The session; `nil` if absent.
    public let sessionID: Range<Int>?

    /// Finds the envelope of a line, which is given without its newline.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        var scanner = LineScanner(bytes)
        guard
            let id = scanner.string(after: #"{"id":""#),
            let name = scanner.string(after: #","name":""#),
            let time = scanner.string(after: #","time":""#),
            let receivedAt = scanner.string(after: #","receivedAt":""#)
        else { return nil }
        self.bytes = bytes
        self.id = id
        self.name = name
        self.time = time
        self.receivedAt = receivedAt
        userID = scanner.string(after: #","userId":""#)
        anonymousID = scanner.string(after: #","anonymousId":""#)
        sessionID = scanner.string(after: #","sessionId":""#)
        guard scanner.isAtEndOfField else { return nil }
    }

    /// The bytes of a field, with its escapes.
    @inlinable
    public func rawText(of field: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[field])
    }

    /// Calls `body` with the UTF-8 of a field without escapes; the text is copied only if it has some.
    @inlinable
    public func withText<Result>(of field: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let raw = rawText(of: field)
        guard raw.contains(UInt8(ascii: "\\")) else { return body(raw) }
        return JSONString.resolvingEscapes(in: raw).withUnsafeBytes(body)
    }

    /// A field as a string, without escapes.
    public func text(of field: Range<Int>) -> String {
        withText(of: field) { String(decoding: $0, as: UTF8.self) }
    }
}

/// Reads the string members of a line, one after another.
private struct LineScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Whether another field or the end of the event follows.
    var isAtEndOfField: Bool {
        position < bytes.count && (bytes[position] == UInt8(ascii: ",") || bytes[position] == UInt8(ascii: "}"))
    }

    /// The range of the string after `introduction`, without its quotation marks; `nil`, and no move, if the line does not
    /// continue with `introduction`.
    @inline(__always)
    mutating func string(after introduction: StaticString) -> Range<Int>? {
        let length = introduction.utf8CodeUnitCount
        guard bytes.count - position >= length, begins(with: introduction.utf8Start, length) else { return nil }
        let start = position + length
        guard let end = endOfString(from: start) else { return nil }
        position = end + 1
        return start..<end
    }

    /// Whether these 4 to 24 bytes come next; compares words, the last of which may overlap.
    @inline(__always)
    private func begins(with text: UnsafePointer<UInt8>, _ length: Int) -> Bool {
        let text = UnsafeRawPointer(text)
        @inline(__always) func isEqual<Word: FixedWidthInteger>(_ offset: Int, _ word: Word.Type) -> Bool {
            bytes.loadUnaligned(fromByteOffset: position + offset, as: word)
                == text.loadUnaligned(fromByteOffset: offset, as: word)
        }
        guard length >= 8 else { return isEqual(0, UInt32.self) && isEqual(length - 4, UInt32.self) }
        return isEqual(0, UInt64.self) && (length <= 16 || isEqual(8, UInt64.self)) && isEqual(length - 8, UInt64.self)
    }

    /// The position of the quotation mark that closes a string.
    private func endOfString(from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            // Eight bytes at a time, until one of them is a quotation mark or a backslash.
            while bytes.count - index >= 8 {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self).littleEndian
                let marks = Self.zeroBytes(word ^ Self.quotes) | Self.zeroBytes(word ^ Self.backslashes)
                if marks != 0 {
                    index += marks.trailingZeroBitCount / 8
                    break
                }
                index += 8
            }
            guard index < bytes.count else { return nil }
            switch bytes[index] {
            case UInt8(ascii: "\""): return index
            case UInt8(ascii: "\\"): index += 2
            default: index += 1
            }
        }
        return nil
    }

    private static let quotes: UInt64 = 0x2222_2222_2222_2222
    private static let backslashes: UInt64 = 0x5C5C_5C5C_5C5C_5C5C

    /// Sets the top bit of the lowest zero byte; bytes above it may be marked falsely.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
