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

    /// Appends a member of an object, with a comma before it.
    mutating func appendMember(_ key: StaticString, _ value: UnsafeRawBufferPointer) {
        append(#",""#)
        append(key)
        append(#"":"#, value)
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
        if value.count > 2 || value.first != UInt8(ascii: "\"") { appendText(literal, value) }
    }

    /// Appends a value that is a text, although some clients write it as a number.
    mutating func appendText(_ literal: StaticString, _ value: UnsafeRawBufferPointer) {
        guard let first = value.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else {
            return append(literal, value)
        }
        append(literal)
        append(UInt8(ascii: "\""))
        append(value)
        append(UInt8(ascii: "\""))
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
    /// Replaces each occurrence of a text by asterisks.
    ///
    /// The search is that of Boyer, Moore and Horspool, which looks at few bytes more than once if the text is a random key.
    mutating func blank(_ text: [UInt8]) {
        guard let last = text.indices.last else { return }
        var shifts = [Int](repeating: text.count, count: 256)
        for index in 0..<last { shifts[Int(text[index])] = last - index }
        var position = 0
        while position + text.count <= count {
            let window = UnsafeRawBufferPointer(rebasing: bytes[position..<position + text.count])
            let step = shifts[Int(window[last])]
            guard window[last] == text[last], window.elementsEqual(text) else {
                position += step
                continue
            }
            for offset in text.indices { replaceByte(at: position + offset, with: UInt8(ascii: "*")) }
            position += text.count
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are those of `text`.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        guard let start = baseAddress, count == text.utf8CodeUnitCount else {
            return isEmpty && text.utf8CodeUnitCount == 0
        }
        return memcmp(start, text.utf8Start, count) == 0
    }
}
