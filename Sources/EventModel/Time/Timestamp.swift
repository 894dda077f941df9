#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A moment in UTC to the microsecond, and the precision with which it was stated.
///
/// The range is the years 0001 to 9999: RFC 3339 also has the year 0000, which PostgreSQL and the date types of many languages do not have.
public struct Timestamp: Sendable, Hashable {
    /// Microseconds since 1970-01-01T00:00:00Z.
    public let microseconds: Int64
    /// The number of fractional digits of the second, 0 to 6; the text form has as many.
    public let fractionDigits: UInt8

    /// The maximum number of bytes that `write(to:)` writes: `2010-12-01T08:26:00.123456Z`.
    public static var maximumTextLength: Int { @inlinable get { 27 } }

    @usableFromInline static var earliestMicroseconds: Int64 { @inlinable get { -62_135_596_800_000_000 } }
    @usableFromInline static var latestMicroseconds: Int64 { @inlinable get { 253_402_300_799_999_999 } }

    /// Creates a timestamp from microseconds since 1970, clamped to the years 0001 to 9999, and a precision of at most 6
    /// digits.
    @inlinable
    public init(microseconds: Int64, fractionDigits: UInt8 = 6) {
        self.microseconds = min(max(microseconds, Self.earliestMicroseconds), Self.latestMicroseconds)
        self.fractionDigits = min(fractionDigits, 6)
    }

    /// Whole milliseconds since 1970, rounded down.
    public var milliseconds: Int64 {
        microseconds >= 0 ? microseconds / 1000 : (microseconds - 999) / 1000
    }

    /// The start of its day in UTC.
    var firstMicrosecondOfDay: Int64 {
        let rest = microseconds % 86_400_000_000
        return microseconds - (rest < 0 ? rest + 86_400_000_000 : rest)
    }

    /// Writes RFC 3339 in UTC to memory with room for `maximumTextLength` bytes, and returns the number of bytes written.
    public func write(to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let midnight = firstMicrosecondOfDay
        _ = CalendarDate(daysSince1970: Int32(truncatingIfNeeded: midnight / 86_400_000_000)).write(to: bytes)
        return 10 + writeTime(ofDay: microseconds - midnight, to: bytes + 10)
    }

    /// Writes the part after the date, and returns the number of bytes written.
    @inline(__always)
    func writeTime(ofDay rest: Int64, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        let (second, microsecond) = UInt64(truncatingIfNeeded: rest).quotientAndRemainder(dividingBy: 1_000_000)
        let (minute, secondOfMinute) = second.quotientAndRemainder(dividingBy: 60)
        let (hour, minuteOfHour) = minute.quotientAndRemainder(dividingBy: 60)
        bytes[0] = UInt8(ascii: "T")
        Digits.writeTwo(hour, to: bytes + 1)
        bytes[3] = UInt8(ascii: ":")
        Digits.writeTwo(minuteOfHour, to: bytes + 4)
        bytes[6] = UInt8(ascii: ":")
        Digits.writeTwo(secondOfMinute, to: bytes + 7)
        guard fractionDigits > 0 else {
            bytes[9] = UInt8(ascii: "Z")
            return 10
        }
        bytes[9] = UInt8(ascii: ".")
        Digits.writeTwo(microsecond / 10_000, to: bytes + 10)
        Digits.writeTwo(microsecond / 100 % 100, to: bytes + 12)
        Digits.writeTwo(microsecond % 100, to: bytes + 14)
        let length = 10 + Int(fractionDigits)
        bytes[length] = UInt8(ascii: "Z")
        return length + 1
    }
}

extension Timestamp {
    /// The current time of the system's clock, to the microsecond.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// Reads an RFC 3339 `date-time`, whose offset may lack its colon or its minutes; `nil` for anything else.
    ///
    /// Digits after the microsecond are cut off. A leap second (`23:59:60` in UTC) is read as the second after it, as in
    /// PostgreSQL. A moment that its offset moves out of the years 0001 to 9999 is `nil`.
    public init?(text: UnsafeRawBufferPointer) {
        var reader = TimestampReader()
        guard let time = reader.read(text) else { return nil }
        self = time
    }

    /// Reads an RFC 3339 `date-time`, whose offset may lack its colon or its minutes; `nil` for anything else.
    public init?(_ text: String) {
        var text = text
        guard let time = text.withUTF8({ Timestamp(text: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = time
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.maximumTextLength) { bytes in
            bytes.baseAddress.map { write(to: $0) } ?? 0
        }
    }
}

extension Timestamp: Comparable {
    /// Compares the moments; the precision does not matter.
    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }
}
