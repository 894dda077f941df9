/// Pairs of decimal digits at fixed positions, as in dates and times.
enum Digits {
    @inline(__always)
    static func value(of byte: UInt8) -> Int? {
        let value = byte &- UInt8(ascii: "0")
        return value < 10 ? Int(value) : nil
    }

    @inline(__always)
    static func readTwo(_ text: UnsafeRawBufferPointer, at position: Int) -> Int? {
        guard let tens = value(of: text[position]), let ones = value(of: text[position + 1]) else { return nil }
        return tens * 10 + ones
    }

    @inline(__always)
    static func writeTwo(_ value: UInt64, to bytes: UnsafeMutablePointer<UInt8>) {
        bytes[0] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10)
        bytes[1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10)
    }
}
