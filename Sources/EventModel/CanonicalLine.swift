/// An event's canonical JSON, and where the fields of its envelope stand in it.
///
/// The canonical form fixes the order of the keys and has no spaces, so that the envelope is found by a scan of the
/// line's beginning: neither the context nor the payload is looked at. Any bytes may be given; what does not begin as a
/// canonical event does is `nil`.
///
/// The ranges are those of the text between the quotation marks, as it stands: `text(of:)` resolves its escapes. The
/// memory belongs to whoever gave it, and must outlive the value.
public struct CanonicalLine {
    /// The line, without its newline.
    public let bytes: UnsafeRawBufferPointer
    /// The text of the id.
    public let id: Range<Int>
    /// The name of the event.
    public let name: Range<Int>
    /// When it happened, RFC 3339.
    public let time: Range<Int>
    /// When it arrived, RFC 3339.
    public let receivedAt: Range<Int>
    /// Whom it is about; `nil` where it does not say.
    public let userID: Range<Int>?
    /// Whom it is about as long as nobody knows the user; `nil` where it does not say.
    public let anonymousID: Range<Int>?
    /// Which session it belongs to; `nil` where it does not say.
    public let sessionID: Range<Int>?

    /// Finds the envelope of a line that is given without its newline.
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

    /// The bytes of a field as they stand, escapes and all.
    @inlinable
    public func rawText(of field: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[field])
    }

    /// Lends the UTF-8 of a field, its escapes resolved; only a field that has any is copied.
    public func withText<Result>(of field: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let raw = rawText(of: field)
        guard raw.contains(UInt8(ascii: "\\")) else { return body(raw) }
        return JSONEscapes.resolved(in: raw).withUnsafeBytes(body)
    }

    /// A field as a string, its escapes resolved.
    public func text(of field: Range<Int>) -> String {
        withText(of: field) { String(decoding: $0, as: UTF8.self) }
    }
}

/// Walks along a line, from string to string.
private struct LineScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Whether what was found is followed by another field, or by the end of the event.
    var isAtEndOfField: Bool {
        position < bytes.count && (bytes[position] == UInt8(ascii: ",") || bytes[position] == UInt8(ascii: "}"))
    }

    /// The string that follows `introduction`, its quotation marks excluded; where it does not follow, nothing moves.
    @inline(__always)
    mutating func string(after introduction: StaticString) -> Range<Int>? {
        let length = introduction.utf8CodeUnitCount
        guard bytes.count - position >= length, begins(with: introduction.utf8Start, length) else { return nil }
        let start = position + length
        guard let end = endOfString(from: start) else { return nil }
        position = end + 1
        return start..<end
    }

    /// Whether these bytes come next, 4 to 24 of them: compared in words, the last of which overlaps another.
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

    /// Where the quotation mark stands that ends a string.
    private func endOfString(from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            // Eight bytes at a time, as long as there is nothing to look at among them.
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

    /// Sets the highest bit of the lowest byte that is zero; bytes above it may be marked without being zero.
    @inline(__always)
    private static func zeroBytes(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }
}
