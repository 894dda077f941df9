import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file descriptor to write to; an interrupt ends a wait for room in it.
struct OutputDescriptor {
    private static let interruptCheckInMilliseconds: Int32 = 100

    private let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    /// Waits for room, writes bytes from `start` on, and returns how many were written, which can be 0.
    ///
    /// - Throws: `cancelled` after an interrupt; `unavailable`, retryable, if the system refuses the bytes.
    func writeSome(of bytes: [UInt8], from start: Int, _ interrupt: Interrupt) throws(TrackerError) -> Int {
        // `write` blocks forever on a pipe that nobody reads, so wait until the descriptor has room.
        var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        while poll(&request, 1, Self.interruptCheckInMilliseconds) == 0 {
            if interrupt.isRaised { throw ConsoleErrorClass.cancelled }
        }
        if interrupt.isRaised { throw ConsoleErrorClass.cancelled }
        // A pipe that is ready takes PIPE_BUF bytes at once; a larger write could block.
        let end = min(bytes.count, start + Int(PIPE_BUF))
        let count = bytes.withUnsafeBytes {
            let chunk = UnsafeRawBufferPointer(rebasing: $0[start..<end])
            #if canImport(Darwin)
            return Darwin.write(number, chunk.baseAddress, chunk.count)
            #elseif canImport(Musl)
            return Musl.write(number, chunk.baseAddress, chunk.count)
            #else
            return Glibc.write(number, chunk.baseAddress, chunk.count)
            #endif
        }
        if count >= 0 { return count }
        if errno == EINTR || errno == EAGAIN { return 0 }
        throw ConsoleErrorClass.error(for: errno)
    }
}
