/// The identity of an event: a UUID, kept as its 16 bytes.
///
/// Ids are what makes a repetition recognisable: every tracker receives the same id for the same event,
/// however often it is delivered. Ids made here are UUIDs of version 7 (RFC 9562, section 5.7), so that
/// an index over them grows at its end.
public struct EventID: Sendable, Hashable {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    /// The number of bytes `write(to:)` writes.
    public static let textLength = 36

    /// Takes the sixteen bytes as two big-endian words, whatever version they say.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes a UUID of version 7 from a moment and 74 bits of chance.
    ///
    /// A moment before 1970 counts as 1970: version 7 has no earlier ones.
    public init(version7At time: Timestamp, randomA: UInt16, randomB: UInt64) {
        self.init(milliseconds: time.microseconds / 1000, version: 7, randomA: randomA, randomB: randomB)
    }

    /// Makes a UUID of version 8 that is laid out as version 7: the event's milliseconds, then 74 bits of a digest.
    ///
    /// The same moment and digest give the same id, which is how a replayed line keeps its id.
    public init(version8At time: Timestamp, digestHigh: UInt64, digestLow: UInt64) {
        self.init(
            milliseconds: time.microseconds / 1000,
            version: 8,
            randomA: UInt16(truncatingIfNeeded: digestHigh),
            randomB: digestLow
        )
    }

    private init(milliseconds: Int64, version: UInt64, randomA: UInt16, randomB: UInt64) {
        let time = UInt64(max(0, milliseconds)) & 0xFFFF_FFFF_FFFF
        high = time << 16 | version << 12 | UInt64(randomA & 0x0FFF)
        low = randomB & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// Reads the 36-character text form of RFC 9562, in either case; anything else is `nil`.
    public init?(text: UnsafeRawBufferPointer) {
        guard text.count == Self.textLength else { return nil }
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var digits = 0
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.hexadecimalValue(of: byte) else { return nil }
            if digits < 16 {
                words.high = words.high << 4 | digit
            } else {
                words.low = words.low << 4 | digit
            }
            digits += 1
        }
        self.init(high: words.high, low: words.low)
    }

    /// Reads the 36-character text form of RFC 9562, in either case; anything else is `nil`.
    public init?(_ text: String) {
        var text = text
        guard let id = text.withUTF8({ EventID(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = id
    }

    private static func hexadecimalValue(of byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Writes the text form, in lower case, to memory that has room for `textLength` bytes.
    public func write(to bytes: UnsafeMutablePointer<UInt8>) {
        let output = UnsafeMutableRawPointer(bytes)
        let (first, second) = (Self.hexadecimalDigits(of: high >> 32), Self.hexadecimalDigits(of: high & 0xFFFF_FFFF))
        let (third, fourth) = (Self.hexadecimalDigits(of: low >> 32), Self.hexadecimalDigits(of: low & 0xFFFF_FFFF))
        output.storeBytes(of: first, as: UInt64.self)
        bytes[8] = UInt8(ascii: "-")
        output.storeBytes(of: UInt32(truncatingIfNeeded: second), toByteOffset: 9, as: UInt32.self)
        bytes[13] = UInt8(ascii: "-")
        output.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32), toByteOffset: 14, as: UInt32.self)
        bytes[18] = UInt8(ascii: "-")
        output.storeBytes(of: UInt32(truncatingIfNeeded: third), toByteOffset: 19, as: UInt32.self)
        bytes[23] = UInt8(ascii: "-")
        output.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32), toByteOffset: 24, as: UInt32.self)
        output.storeBytes(of: fourth, toByteOffset: 28, as: UInt64.self)
    }

    /// The eight hexadecimal digits of the low 32 bits, the first in the lowest byte: all eight at once in one word.
    @inline(__always)
    private static func hexadecimalDigits(of word: UInt64) -> UInt64 {
        var nibbles = word.byteSwapped >> 32
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles >> 4 & 0x000F_000F_000F_000F) | (nibbles & 0x000F_000F_000F_000F) << 8
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (nibbles &+ 0x3030_3030_3030_3030 &+ letters &* 0x27).littleEndian
    }
}

extension EventID: CustomStringConvertible {
    /// The text form of RFC 9562, in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.textLength) { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            write(to: start)
            return Self.textLength
        }
    }
}

extension EventID: Comparable {
    /// Orders ids by their bytes, which for versions 7 and 8 is the order of time.
    public static func < (left: EventID, right: EventID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
