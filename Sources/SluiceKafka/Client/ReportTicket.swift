/// What comes back with a message's report: its position, and where its headers belong.
struct ReportTicket {
    let position: Int
    /// The slot of the header pool; negative where the headers are not kept.
    let slot: Int32

    init(position: Int, slot: Int32) {
        self.position = position
        self.slot = slot
    }

    init(opaque: UnsafeMutableRawPointer?) {
        let bits = UInt64(UInt(bitPattern: opaque))
        position = Int(bits & 0xFFFF_FFFF)
        slot = Int32(truncatingIfNeeded: bits >> 32)
    }

    /// The two as the pointer-sized value that librdkafka keeps with a message; it points nowhere.
    var opaque: UnsafeMutableRawPointer? {
        let bits = UInt64(UInt32(bitPattern: slot)) << 32 | UInt64(UInt32(truncatingIfNeeded: position))
        return UnsafeMutableRawPointer(bitPattern: UInt(truncatingIfNeeded: bits))
    }
}
