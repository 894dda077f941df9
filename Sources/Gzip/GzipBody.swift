#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Inflates one body in turns, into memory of its own.
///
/// That memory comes from `malloc`, because what it needs is the sender's choice: where there is none, the body is
/// refused, and the process lives.
package final class GzipBody {
    /// What a byte of input costs of a turn's bytes, besides the output that it gives: a block's tables take so much more
    /// time than bytes that are copied, and a block may give nothing.
    package static let inputWeight = 16
    /// So much input is inflated before the budget is looked at again.
    private static let inputSlice = 4 << 10
    /// About how many bytes of memory zlib takes for one stream.
    private static let inflaterBytes = 44 << 10

    private var inflater: GzipInflater
    private let maximumBytes: Int
    private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var count = 0

    /// Prepares for a body that gives at most `maximumBytes`.
    ///
    /// - Throws: `GzipError` with `outOfMemory`.
    package init(maximumBytes: Int) throws(GzipError) {
        self.maximumBytes = maximumBytes
        inflater = try GzipInflater(maximumOutputBytes: maximumBytes)
    }

    deinit {
        free(memory.baseAddress)
    }

    /// What was inflated so far; valid until the next change.
    package var text: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// About how many bytes of memory it holds.
    package var byteCount: Int { Self.inflaterBytes + memory.count }

    /// Takes from the front of `input`, which is the rest of the body, what the budget allows.
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
        // One byte beyond the limit is enough to know that it is passed.
        let size = max(count + 4096, min(wanted, maximumBytes &+ 1))
        guard let larger = realloc(memory.baseAddress, size) else {
            throw GzipError(.outOfMemory, "There is not enough memory to inflate.")
        }
        memory = UnsafeMutableRawBufferPointer(start: larger, count: size)
    }
}
