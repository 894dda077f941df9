@_spi(CanonicalJSON) import EventModel

/// The memory of a compiled plan's tables: written while the plan is compiled, only read afterwards, and freed all at once.
final class PlanArena {
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit {
        for block in blocks { block.deallocate() }
    }

    /// Copies values; the result is valid as long as the arena exists.
    func allocate<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
        elements.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { memory.initialize(from: start, count: source.count) }
        }
        blocks.append(UnsafeMutableRawPointer(memory))
        return UnsafePointer(memory)
    }

    /// Copies a text, with `ByteBuilder.padding` more readable bytes after it.
    func allocate(text: [UInt8]) -> UnsafeRawPointer {
        UnsafeRawPointer(allocate(text + [UInt8](repeating: 0, count: ByteBuilder.padding)))
    }
}
