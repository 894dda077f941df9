#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension UnsafeRawBufferPointer {
    /// The position of the first such byte, found with `memchr`, which is several times faster than a loop.
    package func firstIndex(ofByte byte: UInt8) -> Int? {
        guard let start = baseAddress, let found = memchr(start, Int32(byte), count) else { return nil }
        return start.distance(to: UnsafeRawPointer(found))
    }
}

extension UnsafeRawBufferPointer {
    /// The position of the first occurrence of `bytes`, which must not be empty.
    package func firstIndex(ofBytes bytes: [UInt8]) -> Int? {
        var position = 0
        while let offset = UnsafeRawBufferPointer(rebasing: self[position...]).firstIndex(ofByte: bytes[0]) {
            position += offset
            guard count - position >= bytes.count else { return nil }
            if self[position...].starts(with: bytes) { return position }
            position += 1
        }
        return nil
    }
}
