/// Writes timestamps, and caches the text of the last one: events that arrive together mostly share their second or day.
@_spi(CanonicalJSON)
public struct TimestampWriter: Sendable {
    @usableFromInline var last: Timestamp?
    @usableFromInline var text: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    @usableFromInline var length = 0
    private var firstMicrosecondOfDay: Int64 = .max

    private static let microsecondsPerDay: Int64 = 86_400_000_000

    /// The number of bytes that `write` may overwrite, which is more than it returns.
    public static var reservedLength: Int { @inlinable get { 32 } }

    /// Creates a writer with an empty cache.
    public init() {}

    /// Writes RFC 3339 in UTC to memory with room for `reservedLength` bytes, and returns the length of the text.
    @inlinable
    @inline(__always)
    public mutating func write(_ time: Timestamp, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        if time != last { remember(time) }
        UnsafeMutableRawPointer(bytes).storeBytes(of: text, as: (UInt64, UInt64, UInt64, UInt64).self)
        return length
    }

    @usableFromInline
    mutating func remember(_ time: Timestamp) {
        last = time
        withUnsafeMutableBytes(of: &text) { buffer in
            guard let bytes = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            var rest = time.microseconds &- firstMicrosecondOfDay
            if rest < 0 || rest >= Self.microsecondsPerDay {
                firstMicrosecondOfDay = time.firstMicrosecondOfDay
                rest = time.microseconds - firstMicrosecondOfDay
                let day = Int32(truncatingIfNeeded: firstMicrosecondOfDay / Self.microsecondsPerDay)
                _ = CalendarDate(daysSince1970: day).write(to: bytes)
            }
            length = 10 + time.writeTime(ofDay: rest, to: bytes + 10)
        }
    }
}
