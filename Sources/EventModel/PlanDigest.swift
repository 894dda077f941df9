/// Identifies a tracking plan by its content: the first 16 bytes of a SHA-256 digest.
///
/// Two plans with the same digest accept the same events, encode them in the same way, and send them to the same trackers. Their
/// descriptions may differ.
public struct PlanDigest: Sendable, Hashable, CustomStringConvertible {
    /// The number of bytes.
    package static let byteCount = 16

    private let high: UInt64
    private let low: UInt64

    /// Makes a digest from the first 16 of these bytes; there must be at least 16.
    package init(_ bytes: UnsafeRawBufferPointer) {
        high = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        low = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Writes the bytes to memory of at least 16 bytes.
    package func write(to bytes: UnsafeMutableRawBufferPointer) {
        bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
        bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }

    /// The bytes as 32 hexadecimal digits.
    public var description: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}
