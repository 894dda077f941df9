import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The descriptor that lines are written to, and the thread that waits for it.
actor ConsoleOutput {
    private static let interruptCheckInMilliseconds: Int32 = 100

    private let fileDescriptor: Int32
    private let thread: BlockingThread
    private var lines = LineBuffer()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` where there is no thread to be had.
    init(fileDescriptor: Int32) throws(TrackerError) {
        thread = try BlockingThread()
        self.fileDescriptor = fileDescriptor
    }

    /// Writes a line an event, and says from which event on it could not.
    func write(
        _ delivery: Delivery,
        format: ConsoleConfiguration.Format,
        interrupt: Interrupt
    ) -> DeliveryOutcome {
        lines.removeAll()
        for event in delivery { lines.append(event, format: format) }
        var written = 0
        while written < lines.bytes.count {
            switch writeSome(from: written, interrupt: interrupt) {
            case .success(let count): written += count
            case .failure(let error):
                let first = lines.countOfLines(endingBy: written)
                return DeliveryOutcome(retry: .init(positions: Array(first..<delivery.count), reason: error))
            }
        }
        return .delivered
    }

    private func writeSome(from start: Int, interrupt: Interrupt) -> Result<Int, TrackerError> {
        // A pipe that nobody reads would hold `write` for ever, so it is asked first whether it has room.
        var request = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
        while poll(&request, 1, Self.interruptCheckInMilliseconds) == 0 {
            if interrupt.isRaised { return .failure(ConsoleErrorClass.cancelled) }
        }
        if interrupt.isRaised { return .failure(ConsoleErrorClass.cancelled) }
        // No more than a pipe takes at once when it says that it has room: a larger write would wait inside.
        let end = min(lines.bytes.count, start + Int(PIPE_BUF))
        let count = lines.bytes.withUnsafeBytes {
            UnsafeRawBufferPointer(rebasing: $0[start..<end]).withMemoryRebound(to: UInt8.self) { chunk in
                #if canImport(Darwin)
                Darwin.write(fileDescriptor, chunk.baseAddress, chunk.count)
                #elseif canImport(Musl)
                Musl.write(fileDescriptor, chunk.baseAddress, chunk.count)
                #else
                Glibc.write(fileDescriptor, chunk.baseAddress, chunk.count)
                #endif
            }
        }
        if count >= 0 { return .success(count) }
        return errno == EINTR || errno == EAGAIN ? .success(0) : .failure(ConsoleErrorClass.error(for: errno))
    }
}
