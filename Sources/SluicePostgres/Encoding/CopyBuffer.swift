/// The rows of a binary COPY, encoded in one block of memory that is reused.
///
/// Appending does not check the capacity: the caller must call `reserve` before.
package struct CopyBuffer: ~Copyable {
    private var start: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes in the buffer.
    package private(set) var count = 0

    package init(capacity: Int) {
        self.capacity = max(capacity, 64)
        start = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        start.deallocate()
    }

    /// The contents, valid until the buffer changes.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Makes sure that there is room for `size` more bytes.
    @inline(__always)
    package mutating func reserve(_ size: Int) {
        if capacity - count < size { grow(by: size) }
    }

    private mutating func grow(by size: Int) {
        let larger = max(capacity * 2, count + size)
        let block = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        block.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = block
        capacity = larger
    }

    /// Removes everything after the first `count` bytes.
    package mutating func truncate(to count: Int) {
        self.count = Swift.min(count, self.count)
    }

    @inline(__always)
    mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
        assert(capacity - count >= MemoryLayout<Integer>.size)
        start.storeBytes(of: value.bigEndian, toByteOffset: count, as: Integer.self)
        count += MemoryLayout<Integer>.size
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        assert(capacity - count >= bytes.count)
        guard let source = bytes.baseAddress else { return }
        (start + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// Reserves four bytes for a field's length and returns their offset, for `endField`.
    @inline(__always)
    mutating func beginField() -> Int {
        append(Int32(0))
        return count
    }

    /// Writes the length of the field that began at `place`.
    @inline(__always)
    mutating func endField(from place: Int) {
        overwrite(Int32(truncatingIfNeeded: count - place), at: place - 4)
    }

    @inline(__always)
    mutating func overwrite<Integer: FixedWidthInteger>(_ value: Integer, at place: Int) {
        assert(place >= 0 && place + MemoryLayout<Integer>.size <= count)
        start.storeBytes(of: value.bigEndian, toByteOffset: place, as: Integer.self)
    }

    @inline(__always)
    mutating func appendNull() {
        append(Int32(-1))
    }
}

extension CopyBuffer {
    /// Makes room for bytes and appends them.
    package mutating func append(_ bytes: [UInt8]) {
        reserve(bytes.count)
        bytes.withUnsafeBytes { append($0) }
    }
}
