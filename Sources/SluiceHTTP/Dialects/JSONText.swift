@_spi(CanonicalJSON) import EventModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Functions for values as they are written in a JSON text.
enum JSONText {
    /// The text between the quotation marks of a string, with its escapes; the bytes of any other value.
    static func contents(of value: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") else {
            return value
        }
        return UnsafeRawBufferPointer(rebasing: value.dropFirst().dropLast())
    }

    /// The text of a string; `nil` if the value is not one, or is empty.
    static func text(of value: UnsafeRawBufferPointer) -> [UInt8]? {
        guard value.count > 2, value.first == UInt8(ascii: "\"") else { return nil }
        return JSONString.resolvingEscapes(in: contents(of: value))
    }
}

extension ByteBuilder {
    /// Appends a literal and a value.
    mutating func append(_ literal: StaticString, _ value: UnsafeRawBufferPointer) {
        append(literal)
        append(value)
    }

    /// Appends the member `id`: the client's own id of a message, or one derived from it if it is not a UUID.
    mutating func appendMessageID(_ value: UnsafeRawBufferPointer) {
        let text = JSONText.contents(of: value)
        guard value.first == UInt8(ascii: "\""), EventID(text: text) == nil else { return append(#","id":"#, value) }
        append(#","id":"#)
        appendQuoted(EventID(messageID: JSONString.resolvingEscapes(in: text)))
    }

    /// Appends the id of a user, a device or a session: nothing if it is empty, and a number as a string.
    mutating func appendIdentifier(_ literal: StaticString, _ value: UnsafeRawBufferPointer) {
        switch value.first {
        case UInt8(ascii: "\"") where value.count == 2:
            break
        case (UInt8(ascii: "0")...UInt8(ascii: "9"))?, UInt8(ascii: "-"):
            append(literal)
            append(UInt8(ascii: "\""))
            append(value)
            append(UInt8(ascii: "\""))
        default:
            append(literal, value)
        }
    }

    /// Ends a line that begins at this position, with carriage returns in place of the line feeds in it.
    ///
    /// Between values of JSON they mean the same, and in strings neither is allowed.
    mutating func endLine(from start: Int) {
        var position = start
        while let found = UnsafeRawBufferPointer(rebasing: bytes[position...]).firstIndex(ofByte: UInt8(ascii: "\n")) {
            position += found
            replaceByte(at: position, with: UInt8(ascii: "\r"))
        }
        append(UInt8(ascii: "\n"))
    }
}

extension ByteBuilder {
    /// Replaces each occurrence of a text by asterisks, because a key must not be stored with a rejected event.
    mutating func blank(_ text: [UInt8]) {
        guard !text.isEmpty else { return }
        var position = 0
        while let found = UnsafeRawBufferPointer(rebasing: bytes[position...]).firstIndex(of: text) {
            position += found
            for offset in 0..<text.count { replaceByte(at: position + offset, with: UInt8(ascii: "*")) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The position of the first such text, which is not empty.
    fileprivate func firstIndex(of text: [UInt8]) -> Int? {
        var position = 0
        while position + text.count <= count,
            let found = UnsafeRawBufferPointer(rebasing: self[position...]).firstIndex(ofByte: text[0])
        {
            position += found
            let rest = UnsafeRawBufferPointer(rebasing: self[position...].prefix(text.count))
            if rest.elementsEqual(text) { return position }
            position += 1
        }
        return nil
    }

    /// Whether the bytes are those of `text`.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        guard let start = baseAddress, count == text.utf8CodeUnitCount else {
            return isEmpty && text.utf8CodeUnitCount == 0
        }
        return memcmp(start, text.utf8Start, count) == 0
    }
}
