/// What can be found out about a JSON text without parsing it.
public enum JSONElements {
    /// The position of the quotation mark that closes the string that begins at `start`.
    static func stringEnd(_ text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var position = start + 1
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""): return position
            default: position += 1
            }
        }
        return nil
    }

    /// The key, without its quotation marks, and the value of an object's member; `nil` if the text is not a member.
    public static func member(
        _ text: UnsafeRawBufferPointer
    ) -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        guard text.first == UInt8(ascii: "\""), let end = stringEnd(text, from: 0) else { return nil }
        guard let colon = text[(end + 1)...].firstIndex(where: { !isSpace($0) }), text[colon] == UInt8(ascii: ":"),
            let start = text[(colon + 1)...].firstIndex(where: { !isSpace($0) })
        else { return nil }
        return (UnsafeRawBufferPointer(rebasing: text[1..<end]), UnsafeRawBufferPointer(rebasing: text[start...]))
    }

    /// Whether the byte is white space in JSON.
    @inlinable
    public static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}
