import EventModel
import Logging
import Synchronization
import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The standard error of a program: its lines are logged as they come, and the last ones are kept for the report of its end.
///
/// A program may write at any time and without limit, so it is read all the time, on a thread of its own, and lines beyond a rate are
/// counted only.
actor ErrorOutput {
    private struct State {
        var log: ErrorLog
        var isOpen = true
    }

    private static let checkInMilliseconds: Int32 = 100

    private let descriptor: Int32
    private let thread: BlockingThread
    private let state: Mutex<State>

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Takes a pipe, which `readAll` closes.
    ///
    /// - Throws: `unavailable` if the system refuses a thread.
    init(_ descriptor: Int32, tracker: String, logger: Logger) throws(TrackerError) {
        thread = try BlockingThread()
        ProgramPipe.setNonblocking(descriptor)
        self.descriptor = descriptor
        state = Mutex(State(log: ErrorLog(tracker: tracker, logger: logger)))
    }

    /// Reads until the pipe ends or `close` is called.
    func readAll() {
        var isOpen = true
        while isOpen {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&request, 1, Self.checkInMilliseconds)
            isOpen = read()
        }
        closeDescriptor(descriptor)
    }

    /// Reads what is there, and returns the last lines; for when the program has ended.
    nonisolated func lastLines() -> [String] {
        _ = read()
        return state.withLock { $0.log.lastLines() }
    }

    /// Ends `readAll`, although processes that the program has started may still have its standard error.
    nonisolated func close() {
        state.withLock { $0.isOpen = false }
    }

    /// Reads what is there, unless it was closed; returns whether more may come.
    private nonisolated func read() -> Bool {
        state.withLock { state in
            if state.isOpen { state.isOpen = Self.read(descriptor, into: &state.log) }
            return state.isOpen
        }
    }

    /// Reads until nothing is there, or enough for one turn; returns whether more may come.
    private static func read(_ descriptor: Int32, into log: inout ErrorLog) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            for _ in 0..<64 {
                let count = readBytes(descriptor, into: buffer)
                if count > 0 {
                    log.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                } else if count == 0 {
                    return false
                } else if errno != EINTR {
                    return errno == EAGAIN
                }
            }
            return true
        }
    }
}

/// Splits standard error into lines, and logs them up to a rate.
struct ErrorLog {
    /// The maximum length of a line in bytes; the rest of a longer one is dropped.
    private static let maximumLine = 2000
    /// So many lines are logged in each period.
    private static let maximumLines = 100
    private static let period = Duration.seconds(10)
    /// So many lines are kept for the report of the program's end.
    private static let kept = 10

    private let tracker: String
    private let logger: Logger
    private var line: [UInt8] = []
    private var last: [String] = []
    private var periodEnd = ContinuousClock.now
    private var linesInPeriod = 0

    init(tracker: String, logger: Logger) {
        self.tracker = tracker
        self.logger = logger
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine()
            } else if line.count < Self.maximumLine {
                line.append(byte)
            }
        }
    }

    /// The last lines, the one that has not ended included.
    mutating func lastLines() -> [String] {
        if !line.isEmpty { endLine() }
        noteDropped()
        return last
    }

    private mutating func endLine() {
        var escaped: [UInt8] = []
        TerminalEscapes.append(line, to: &escaped)
        let text = String(decoding: escaped, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        last.append(text)
        if last.count > Self.kept { last.removeFirst() }

        let now = ContinuousClock.now
        if now >= periodEnd {
            noteDropped()
            (periodEnd, linesInPeriod) = (now + Self.period, 0)
        }
        linesInPeriod += 1
        if linesInPeriod <= Self.maximumLines {
            logger.info(
                "The program wrote a line to standard error.",
                metadata: ["tracker": "\(tracker)", "line": "\(text)"]
            )
        }
    }

    private mutating func noteDropped() {
        let dropped = linesInPeriod - Self.maximumLines
        guard dropped > 0 else { return }
        linesInPeriod = Self.maximumLines
        logger.warning(
            "The program wrote more lines to standard error than are logged.",
            metadata: ["tracker": "\(tracker)", "dropped": "\(dropped)"]
        )
    }
}
