/// Makes gzip of one stored block (RFC 1952), in which each part can be wrong.
enum StoredGzip {
    /// A member with these bytes, of which there must be fewer than 64 KiB.
    static func member(
        _ bytes: some Collection<UInt8>,
        flags: UInt8 = 0,
        checksumChange: UInt32 = 0,
        lengthChange: UInt32 = 0
    ) -> [UInt8] {
        let count = UInt16(bytes.count)
        let header: [UInt8] = [0x1F, 0x8B, 8, flags, 0, 0, 0, 0, 0, 0xFF]
        let trailer = littleEndian(checksum(of: bytes) ^ checksumChange) + littleEndian(UInt32(count) &+ lengthChange)
        return header + [1] + littleEndian(count) + littleEndian(~count) + bytes + trailer
    }

    private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    /// CRC-32, bit by bit.
    private static func checksum(of bytes: some Collection<UInt8>) -> UInt32 {
        var remainder: UInt32 = .max
        for byte in bytes {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        return ~remainder
    }
}
