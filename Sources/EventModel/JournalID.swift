/// A journal's identity: a UUID that is created when the journal is first opened, and stored in its folder.
///
/// A tracker that stores its own checkpoint stores it under this id, because sequence numbers count within one journal only.
public struct JournalID: Sendable, Hashable, CustomStringConvertible {
    private static let groups = [8, 4, 4, 4, 12]

    /// The text form of RFC 9562, in lower case.
    public let description: String

    /// Creates a new id: a UUID of version 4.
    public init() {
        let high = UInt64.random(in: 0...UInt64.max) & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = UInt64.random(in: 0...UInt64.max) & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        var digits = Self.hexadecimal(high) + Self.hexadecimal(low)
        var parts: [Substring] = []
        for length in Self.groups {
            parts.append(digits.prefix(length))
            digits = String(digits.dropFirst(length))
        }
        description = parts.joined(separator: "-")
    }

    /// Reads the text form of RFC 9562, in upper or lower case; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == Self.groups,
            parts.joined().utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
        else { return nil }
        description = text.lowercased()
    }

    private static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
