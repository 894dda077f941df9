import JSONTape

/// A copy of a text with the readable bytes after it that the parser requires.
///
/// A copy costs a fraction of parsing, and callers need not promise anything about their memory.
struct PaddedInput: ~Copyable {
    /// The maximum size that is kept for the next body; the memory of larger bodies is freed.
    private static let keptCapacity = 1 << 20

    private var memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)

    deinit {
        memory.deallocate()
    }

    /// Copies a body; the result is valid until the next call.
    mutating func fill(_ body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let needed = body.count + JSONParser.padding
        if needed > memory.count || memory.count > Self.keptCapacity {
            memory.deallocate()
            memory = .allocate(byteCount: max(4096, needed + needed / 2), alignment: 16)
        }
        memory.copyMemory(from: body)
        return UnsafeRawBufferPointer(rebasing: memory[..<body.count])
    }
}
