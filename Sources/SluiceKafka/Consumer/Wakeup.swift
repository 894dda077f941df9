package import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Ends the wait of a thread from any other one, librdkafka's included: a pipe, to which librdkafka writes when one of its queues is
/// no longer empty.
package final class Wakeup: Sendable {
    private let readEnd: Int32
    /// What librdkafka writes to.
    let writeEnd: Int32

    /// - Throws: `unavailable`, retryable, if the process has no file descriptor left.
    package init() throws(TrackerError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw TrackerError(
                code: .unavailable,
                message: "The system cannot make another pipe: \(String(cString: strerror(errno))).",
                isRetryable: true
            )
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            // A full pipe wakes the thread anyway, and an empty one must not block it.
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Wakes the thread, now or at its next wait.
    package func signal() {
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }

    /// Waits for a signal, or until the time has passed.
    package func wait(milliseconds: Int32) {
        var descriptor = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) > 0 else { return }
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
            while read(readEnd, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}
