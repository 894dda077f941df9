@_spi(CanonicalJSON) import EventModel
import Hashing

/// The form of a hashed value: `hmac-sha256:` and 64 hexadecimal digits in lower case.
///
/// A text of this form is not hashed again, so an event can be checked any number of times: from the journal, in a replay, and
/// from the quarantine.
enum HashedText {
    private static let prefix: StaticString = "hmac-sha256:"
    private static let digitCount = 64

    /// Whether a text has the form of a hashed value.
    static func matches(_ text: UnsafeRawBufferPointer) -> Bool {
        let start = UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        guard text.count == start.count + digitCount, text.starts(with: start) else { return false }
        return text[start.count...].allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
    }

    /// Appends the hash of a text as a JSON string.
    static func append(hashOf text: UnsafeRawBufferPointer, _ key: HashKey, to output: inout ByteBuilder) {
        output.append(UInt8(ascii: "\""))
        output.append(prefix)
        for byte in HMACSHA256(of: text, key: key.bytes).bytes {
            output.append(digit(byte >> 4))
            output.append(digit(byte & 15))
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
