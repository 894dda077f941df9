#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Inflates one body in turns, into a buffer of its own.
///
/// The buffer comes from `malloc`, because its size depends on the sender: if the allocation fails, the body is refused, and the
/// process continues.
package final class GzipBody {
    /// The cost of a byte of input in bytes of a turn's budget, in addition to its output: building a block's Huffman tables takes
    /// much longer than copying bytes, and a block may have no output.
    package static let inputWeight = 16
    /// The number of bytes of input that are inflated between two checks of the budget.
    private static let inputSlice = 4 << 10
    /// The approximate memory of a zlib stream, in bytes.
    private static let inflaterBytes = 44 << 10

    private var inflater: GzipInflater
    private let maximumBytes: Int
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0

    /// Prepares for a body of at most `maximumBytes` after inflating.
    ///
    /// - Throws: `GzipError` with `outOfMemory`.
    package init(maximumBytes: Int) throws(GzipError) {
        self.maximumBytes = maximumBytes
        inflater = try GzipInflater(maximumOutputBytes: maximumBytes)
    }

    deinit {
        free(memory.baseAddress)
    }

    /// The inflated bytes so far; valid until the next call of `inflate`.
    package var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Its approximate size in memory.
    package var byteCount: Int { Self.inflaterBytes + memory.count }

    /// Inflates from the front of `input`, the rest of the body, as much as the budget allows, and removes it.
    ///
    /// The budget is in bytes, and is reduced by the output and by the input times `inputWeight`.
    ///
    /// - Returns: Whether the body is inflated to its end.
    /// - Throws: `GzipError`.
    package func inflate(
        _ input: inout UnsafeRawBufferPointer,
        within budget: inout Int
    ) throws(GzipError) -> Bool {
        while budget > 0 {
            var slice = UnsafeRawBufferPointer(rebasing: input.prefix(Self.inputSlice))
            let offered = slice.count
            try makeRoom(for: input.count)
            let room = UnsafeMutableRawBufferPointer(rebasing: memory[count...].prefix(max(4096, budget)))
            let written = try inflater.inflate(&slice, into: room)
            let taken = offered - slice.count
            count += written
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(taken))
            budget -= written + taken * Self.inputWeight
            if input.isEmpty, written < room.count {
                try inflater.finish()
                return true
            }
        }
        return false
    }

    private func makeRoom(for inputBytes: Int) throws(GzipError) {
        guard memory.count - count < 4096 else { return }
        let wanted = max(memory.count * 2, 4096 + min(inputBytes * 4, maximumBytes))
        // One byte beyond the limit is enough to notice that it is exceeded.
        let size = max(count + 4096, min(wanted, maximumBytes &+ 1))
        guard let larger = realloc(memory.baseAddress, size) else {
            throw GzipError(.outOfMemory, "There is not enough memory to inflate.")
        }
        memory = UnsafeMutableRawBufferPointer(start: larger, count: size)
    }
}
