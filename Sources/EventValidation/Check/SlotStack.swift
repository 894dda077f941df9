/// A stack with a frame for each object being checked: for each of its properties the position of the value on the tape, or in the
/// structure of the line; 0 if it is absent.
struct SlotStack: ~Copyable {
    private var memory = UnsafeMutableBufferPointer<Int>.allocate(capacity: 256)
    private var count = 0

    deinit {
        memory.deallocate()
    }

    /// Pushes a frame of zeros and returns its start.
    @inline(__always)
    mutating func push(_ size: Int) -> Int {
        if count + size > memory.count { grow(by: size) }
        for slot in count..<count + size { memory[slot] = 0 }
        count += size
        return count - size
    }

    /// Pops the last frame, which must have this size.
    @inline(__always)
    mutating func pop(_ size: Int) {
        count -= size
    }

    /// Pops all frames.
    @inline(__always)
    mutating func removeAll() {
        count = 0
    }

    private mutating func grow(by size: Int) {
        let larger = UnsafeMutableBufferPointer<Int>.allocate(capacity: memory.count * 2 + size)
        for slot in 0..<count { larger[slot] = memory[slot] }
        memory.deallocate()
        memory = larger
    }

    subscript(slot: Int) -> Int {
        @inline(__always) get { memory[slot] }
        @inline(__always) set { memory[slot] = newValue }
    }
}
