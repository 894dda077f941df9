import EventModel
import JSONTape

/// Memory for a compiled plan's tables: written while the plan is compiled, read ever after, freed all at once.
final class PlanArena {
    private var blocks: [UnsafeMutableRawPointer] = []

    deinit {
        for block in blocks { block.deallocate() }
    }

    /// Copies values that stay where they are as long as the arena lives.
    func allocate<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
        elements.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { memory.initialize(from: start, count: source.count) }
        }
        blocks.append(UnsafeMutableRawPointer(memory))
        return UnsafePointer(memory)
    }

    /// Copies a text, with the readable bytes behind it that a padded text has.
    func allocate(text: [UInt8]) -> UnsafeRawPointer {
        UnsafeRawPointer(allocate(text + [UInt8](repeating: 0, count: ByteBuilder.padding)))
    }
}
