/// Wraps bytes as gzip without compressing them, so that a test needs no program for it.
enum StoredGzip {
    /// A whole gzip file; only for fewer than 65,536 bytes.
    static func file(_ bytes: [UInt8]) -> [UInt8] {
        let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        let length = UInt16(bytes.count)
        // One final block of the kind "stored": its length, and its length inverted.
        let block = [1] + littleEndian(length) + littleEndian(~length) + bytes
        return header + block + littleEndian(checksum(of: bytes)) + littleEndian(UInt32(bytes.count))
    }

    private static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    /// The CRC-32 of RFC 1952.
    private static func checksum(of bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
