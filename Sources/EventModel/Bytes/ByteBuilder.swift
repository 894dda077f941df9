/// A growing buffer of bytes whose memory can be handed over without a copy.
@_spi(CanonicalJSON)
public struct ByteBuilder: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    /// The number of bytes appended.
    public var count: Int

    /// Creates an empty buffer with room for `capacity` bytes.
    public init(capacity: Int) {
        self.capacity = max(64, capacity)
        start = .allocate(capacity: self.capacity)
        count = 0
    }

    deinit {
        start.deallocate()
    }

    /// The number of bytes allocated.
    public var reservedBytes: Int { capacity }

    /// The bytes appended so far; valid until the next change.
    @inlinable
    public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Hands over the bytes, which come from `UnsafeMutableRawPointer.allocate`; the caller must deallocate them.
    ///
    /// The memory is at most twice as large as what was appended, so a limit on the bytes limits the memory, too.
    public consuming func release() -> UnsafeRawBufferPointer {
        if capacity > 2 * max(64, count) { fit() }
        let bytes = UnsafeRawBufferPointer(start: start, count: count)
        discard self
        return bytes
    }

    private mutating func fit() {
        let fitting = UnsafeMutablePointer<UInt8>.allocate(capacity: max(1, count))
        fitting.update(from: start, count: count)
        start.deallocate()
        start = fitting
        capacity = count
    }

    /// Ensures room for `extra` more bytes at `end`.
    @inlinable
    @inline(__always)
    public mutating func reserve(_ extra: Int) {
        if capacity &- count < extra { grow(by: extra) }
    }

    /// The address of the next byte; call `reserve` before writing, and add the number of bytes to `count` after it.
    @inlinable
    @inline(__always)
    public var end: UnsafeMutablePointer<UInt8> { start + count }

    /// Replaces one of the bytes appended before.
    @inlinable
    @inline(__always)
    public mutating func replaceByte(at position: Int, with byte: UInt8) {
        start[position] = byte
    }

    @usableFromInline
    mutating func grow(by extra: Int) {
        let larger = max(capacity * 2, count + extra)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        moved.update(from: start, count: count)
        start.deallocate()
        start = moved
        capacity = larger
    }

    /// Appends one byte.
    @inlinable
    @inline(__always)
    public mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    /// Appends bytes.
    @inlinable
    @inline(__always)
    public mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        UnsafeMutableRawPointer(end).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// The number of bytes after a padded text that must be readable, because texts are copied in blocks of this size.
    public static var padding: Int { @inlinable get { 32 } }

    /// Appends bytes; `padding` more bytes after them must be readable.
    @inlinable
    @inline(__always)
    public mutating func appendPadded(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count &+ 32)
        Self.copyPadded(source, bytes.count, to: UnsafeMutableRawPointer(end))
        count &+= bytes.count
    }

    /// Copies in blocks of 32 bytes; `padding` more must be accessible after both texts.
    @inlinable
    @inline(__always)
    static func copyPadded(_ source: UnsafeRawPointer, _ count: Int, to target: UnsafeMutableRawPointer) {
        var position = 0
        repeat {
            let block = (source + position).loadUnaligned(as: SIMD32<UInt8>.self)
            target.storeBytes(of: block, toByteOffset: position, as: SIMD32<UInt8>.self)
            position &+= 32
        } while position < count
    }

    /// Appends a literal.
    @inlinable
    @inline(__always)
    public mutating func append(_ literal: StaticString) {
        append(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends bytes.
    @inlinable
    public mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }
}
