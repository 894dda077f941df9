import CISAL

/// CRC-32C (RFC 3720, appendix B.4), by ISA-L.
struct Checksum {
    private var state: UInt32 = .max

    /// The checksum of the bytes added so far.
    var value: UInt32 { ~state }

    /// The checksum of some bytes.
    static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = Checksum()
        checksum.add(bytes)
        return checksum.value
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        // ISA-L takes the length as an `int`, and a mutable pointer from which it only reads.
        while let start = rest.baseAddress, !rest.isEmpty {
            let part = min(rest.count, 1 << 30)
            let bytes = UnsafeMutableRawPointer(mutating: start).assumingMemoryBound(to: UInt8.self)
            state = crc32_iscsi(bytes, Int32(part), state)
            rest = UnsafeRawBufferPointer(rebasing: rest[part...])
        }
    }
}
