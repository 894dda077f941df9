/// A growing buffer of bytes that can be handed on without a copy.
package struct ByteBuilder: ~Copyable {
    @usableFromInline var start: UnsafeMutablePointer<UInt8>
    @usableFromInline var capacity: Int
    /// How many bytes were appended.
    package var count: Int

    /// Makes room for `capacity` bytes.
    package init(capacity: Int) {
        self.capacity = max(64, capacity)
        start = .allocate(capacity: self.capacity)
        count = 0
    }

    deinit {
        start.deallocate()
    }

    /// How many bytes of memory it holds.
    package var reservedBytes: Int { capacity }

    /// The bytes appended so far; valid until the next change.
    @inlinable
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Hands the bytes over; they come from `UnsafeMutableRawPointer.allocate` and are the receiver's to deallocate.
    ///
    /// The memory is at most twice what was appended: whoever counts the bytes counts the memory.
    package consuming func release() -> UnsafeRawBufferPointer {
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

    /// Makes sure that `extra` more bytes can be written at `end`.
    @inlinable
    @inline(__always)
    package mutating func reserve(_ extra: Int) {
        if capacity &- count < extra { grow(by: extra) }
    }

    /// Where the next byte goes; `reserve` first, and add what was written to `count`.
    @inlinable
    @inline(__always)
    package var end: UnsafeMutablePointer<UInt8> { start + count }

    /// Replaces one of the bytes appended before.
    @inlinable
    @inline(__always)
    package mutating func replaceByte(at position: Int, with byte: UInt8) {
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
    package mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    /// Appends bytes.
    @inlinable
    @inline(__always)
    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        UnsafeMutableRawPointer(end).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// How many bytes behind a padded text must be readable: short texts are copied whole, whatever their length.
    package static let padding = 32

    /// Appends bytes behind which `padding` more are readable.
    @inlinable
    @inline(__always)
    package mutating func appendPadded(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count &+ 32)
        Self.copyPadded(source, bytes.count, to: UnsafeMutableRawPointer(end))
        count &+= bytes.count
    }

    /// Copies in blocks of 32 bytes; `padding` bytes behind both texts are there.
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

    /// Appends the text of a literal.
    @inlinable
    @inline(__always)
    package mutating func append(_ literal: StaticString) {
        append(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends bytes.
    @inlinable
    package mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }
}
