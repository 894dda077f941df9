/// The identity of an event, and its idempotency key: a UUID, stored as 16 bytes.
///
/// Every tracker receives the same id for the same event, however often it is delivered, so that it can recognise a
/// duplicate. Generated ids are UUIDs of version 7 (RFC 9562, section 5.7), so that an index over them grows at its end.
public struct EventID: Sendable, Hashable {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    /// The number of bytes that `write(to:)` writes.
    public static var textLength: Int { @inlinable get { 36 } }

    /// Creates an id from its sixteen bytes as two big-endian words, of any version.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a UUID of version 7 from a time and 74 random bits.
    ///
    /// A time before 1970 counts as 1970, because version 7 has no earlier ones.
    public init(version7At time: Timestamp, randomA: UInt16, randomB: UInt64) {
        self.init(milliseconds: time.microseconds / 1000, version: 7, randomA: randomA, randomB: randomB)
    }

    /// Creates a UUID of version 8 with the layout of version 7: the event's milliseconds, then 74 bits of a digest.
    ///
    /// The same time and digest give the same id, so a line keeps its id when it is replayed again.
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

    /// The time in a UUID of version 7, to the millisecond; `nil` for any other id.
    package var version7Time: Timestamp? {
        guard high >> 12 & 0xF == 7, low >> 62 == 2 else { return nil }
        return Timestamp(microseconds: Int64(high >> 16) * 1000, fractionDigits: 3)
    }

    /// Reads the text form of RFC 9562 (36 characters, upper or lower case); `nil` for anything else.
    public init?(text: UnsafeRawBufferPointer) {
        let dash = UInt8(ascii: "-")
        guard
            text.count == Self.textLength, text[8] == dash, text[13] == dash, text[18] == dash, text[23] == dash
        else { return nil }
        func half(_ offset: Int) -> UInt64 { UInt64(text.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
        guard
            let first = Self.value(ofDigits: text.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            let second = Self.value(ofDigits: half(9) | half(14) << 32),
            let third = Self.value(ofDigits: half(19) | half(24) << 32),
            let fourth = Self.value(ofDigits: text.loadUnaligned(fromByteOffset: 28, as: UInt64.self))
        else { return nil }
        self.init(high: first << 32 | second, low: third << 32 | fourth)
    }

    /// Reads the text form of RFC 9562 (36 characters, upper or lower case); `nil` for anything else.
    public init?(_ text: String) {
        var text = text
        guard let id = text.withUTF8({ EventID(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = id
    }

    /// The value of eight hexadecimal digits, the first in the lowest byte, all decoded at once in one word.
    @inline(__always)
    private static func value(ofDigits text: UInt64) -> UInt64? {
        // Sets the top bit of each byte that is at least `least`; for bytes below 128.
        @inline(__always) func isAtLeast(_ least: UInt64, _ bytes: UInt64) -> UInt64 {
            bytes &+ (0x80 &- least) &* 0x0101_0101_0101_0101
        }
        let tops: UInt64 = 0x8080_8080_8080_8080
        let lower = text | 0x2020_2020_2020_2020
        let digits = isAtLeast(0x30, text) & ~isAtLeast(0x3A, text)
        let letters = isAtLeast(0x61, lower) & ~isAtLeast(0x67, lower) & tops
        guard text & tops == 0, (digits | letters) & tops == tops else { return nil }
        var value = text & 0x0F0F_0F0F_0F0F_0F0F &+ (letters >> 7) &* 9
        value = (value << 4 | value >> 8) & 0x00FF_00FF_00FF_00FF
        value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
        return (value | value >> 16).byteSwapped >> 32
    }

    /// Writes the text form in lower case to memory with room for `textLength` bytes.
    @inlinable
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

    /// The eight hexadecimal digits of the low 32 bits, the first in the lowest byte, all encoded at once in one word.
    @inlinable
    @inline(__always)
    static func hexadecimalDigits(of word: UInt64) -> UInt64 {
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
    /// Compares the bytes, which for versions 7 and 8 is the order in time.
    public static func < (left: EventID, right: EventID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
