/// Writes timestamps, remembering the last one: events that come together mostly share their second or their day.
public struct TimestampWriter: Sendable {
    private var last: Timestamp?
    private var text: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private var length = 0
    private var firstMicrosecondOfDay: Int64 = .max

    private static let microsecondsADay: Int64 = 86_400_000_000

    /// How many bytes `write` may touch, which is more than it says it wrote.
    public static let reservedLength = 32

    /// Makes a writer that remembers nothing yet.
    public init() {}

    /// Writes RFC 3339 in UTC to memory that has room for `reservedLength` bytes, and returns how many count.
    @inline(__always)
    public mutating func write(_ time: Timestamp, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
        if time != last { remember(time) }
        UnsafeMutableRawPointer(bytes).storeBytes(of: text, as: (UInt64, UInt64, UInt64, UInt64).self)
        return length
    }

    private mutating func remember(_ time: Timestamp) {
        last = time
        withUnsafeMutableBytes(of: &text) { buffer in
            guard let bytes = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            var rest = time.microseconds &- firstMicrosecondOfDay
            if rest < 0 || rest >= Self.microsecondsADay {
                firstMicrosecondOfDay = time.firstMicrosecondOfDay
                rest = time.microseconds - firstMicrosecondOfDay
                let day = Int32(truncatingIfNeeded: firstMicrosecondOfDay / Self.microsecondsADay)
                _ = CalendarDate(daysSince1970: day).write(to: bytes)
            }
            length = 10 + time.writeTime(ofDay: rest, to: bytes + 10)
        }
    }
}
