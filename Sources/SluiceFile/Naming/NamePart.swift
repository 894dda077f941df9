import Hashing

/// A text as a part of a file's name, so that it can neither leave its folder nor be mistaken for another text.
///
/// ASCII letters and digits, `-`, `_`, dots and spaces stay, except dots and spaces at an end; every other byte becomes `%` and two
/// hexadecimal digits. So no result is `.` or `..`, begins with a dot, or contains a separator, and results that a file system treats
/// as equal, because it ignores case, come from names that differ only in case, which no plan has.
package enum NamePart {
    /// Stands before the digest of a text that was too long; it is not in any other result.
    package static let mark = "+"
    private static let digestLength = 16

    /// The name; if it would have more than `maximumBytes`, its beginning and a digest of the text.
    package static func encoded(_ text: String, maximumBytes: Int) -> String {
        // A result that nothing else has, because after each other '%' there are digits.
        guard !text.isEmpty else { return "%" }
        let bytes = Array(text.utf8)
        let parts = bytes.indices.map { index in
            part(bytes[index], isAtEnd: index == 0 || index == bytes.count - 1)
        }
        let length = parts.reduce(0) { $0 + $1.utf8.count }
        if length <= maximumBytes { return parts.joined() }
        var shortened = ""
        for part in parts {
            guard shortened.utf8.count + part.utf8.count + 1 + digestLength <= maximumBytes else { break }
            shortened += part
        }
        return shortened + mark + SHA256Digest(of: bytes).hexadecimal.prefix(digestLength)
    }

    private static func part(_ byte: UInt8, isAtEnd: Bool) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            return String(UnicodeScalar(byte))
        case UInt8(ascii: "."), UInt8(ascii: " "):
            if !isAtEnd { return String(UnicodeScalar(byte)) }
        default: break
        }
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
    }
}
