/// The byte order mark with which a text may begin (RFC 8259, section 8.1, lets a reader ignore that of UTF-8).
enum ByteOrderMark {
    private static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]
    /// The marks of UTF-32 come first, because that of UTF-16 begins one of them.
    private static let others: [(bytes: [UInt8], encoding: String)] = [
        ([0x00, 0x00, 0xFE, 0xFF], "UTF-32"), ([0xFF, 0xFE, 0x00, 0x00], "UTF-32"),
        ([0xFE, 0xFF], "UTF-16"), ([0xFF, 0xFE], "UTF-16"),
    ]

    /// The number of bytes of the mark of UTF-8 at the beginning of a text.
    ///
    /// - Throws: `MalformedBody` if there is the mark of another encoding.
    static func byteCount(in text: UnsafeRawBufferPointer) throws(MalformedBody) -> Int {
        if text.starts(with: utf8) { return utf8.count }
        guard let other = others.first(where: { text.starts(with: $0.bytes) }) else { return 0 }
        throw MalformedBody(
            violation: Violation(
                code: .malformedJSON,
                path: "$",
                expected: "text in UTF-8",
                found: "the byte order mark of \(other.encoding)"
            )
        )
    }
}

extension UnsafeRawBufferPointer {
    /// The text without the byte order mark of UTF-8 with which it may begin.
    ///
    /// Whoever receives a text from outside calls it once, before the text is translated or checked: a mark that is only
    /// ignored by one of several readers would let them read different events.
    ///
    /// - Throws: `MalformedBody` if the text begins with the mark of another encoding.
    package func withoutByteOrderMark() throws(MalformedBody) -> UnsafeRawBufferPointer {
        let count = try ByteOrderMark.byteCount(in: self)
        return count == 0 ? self : UnsafeRawBufferPointer(rebasing: dropFirst(count))
    }
}
