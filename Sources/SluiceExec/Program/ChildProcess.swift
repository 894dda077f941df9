import CSpawn
import Logging
import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A running program, with the pipes to its standard input and from its standard output and error.
///
/// Only the thread that started it may use it, because on Linux the program is killed when that thread ends.
final class ChildProcess {
    /// How a program ended.
    enum End {
        case exited(Int32)
        case killed(Int32)
        /// Another part of this process has waited for the program, or it did not end.
        case unknown

        var words: String {
            switch self {
            case .exited(let status): "exit status \(status)"
            case .killed(let signal): "signal \(signal)"
            case .unknown: "unknown"
            }
        }
    }

    /// The room in the pipe for events, in bytes; more of it means fewer turns of the two processes.
    private static let inputRoom: Int32 = 1 << 20
    private static let checkInMilliseconds: Int32 = 100
    /// How long a program may take to end after SIGKILL.
    private static let killInMilliseconds: Int32 = 500

    private let id: pid_t
    /// The pipe to standard input; `nil` once it is closed.
    private var input: Int32?
    private let output: Int32
    private let errorOutput: ErrorOutput
    private var end: End?

    /// Starts a program.
    init(_ program: ProgramDescription, tracker: String, logger: Logger) throws(TrackerError) {
        var pipes: [ProgramPipe] = []
        do throws(TrackerError) {
            for _ in 0..<3 { pipes.append(try ProgramPipe()) }
            errorOutput = try ErrorOutput(pipes[2].reading, tracker: tracker, logger: logger)
            id = try Self.start(program, pipes[0].reading, pipes[1].writing, pipes[2].writing)
        } catch {
            pipes.forEach { $0.close() }
            throw error
        }
        for end in [pipes[0].reading, pipes[1].writing, pipes[2].writing] { closeDescriptor(end) }
        input = pipes[0].writing
        output = pipes[1].reading
        ProgramPipe.setNonblocking(pipes[0].writing)
        ProgramPipe.setNonblocking(output)
        cspawn_set_room(pipes[0].writing, Self.inputRoom)
        let errorOutput = errorOutput
        // It lives as long as the program, which a delivery or a check has started.
        Task { await errorOutput.readAll() }
    }

    deinit {
        _ = end(within: .zero)
        closeDescriptor(output)
    }

    private static func start(
        _ program: ProgramDescription,
        _ input: Int32,
        _ output: Int32,
        _ error: Int32
    ) throws(TrackerError) -> pid_t {
        var id: pid_t = 0
        let number = withCStrings(program.arguments) { arguments in
            withCStrings(program.environment) { environment in
                program.path.withCString { path in
                    let directory = program.directory.map { strdup($0) } ?? nil
                    defer { free(directory) }
                    var description = CSpawnProgram(
                        path: path,
                        arguments: arguments,
                        environment: environment,
                        directory: directory,
                        standard_input: input,
                        standard_output: output,
                        standard_error: error
                    )
                    return cspawn_start(&description, &id)
                }
            }
        }
        guard number == 0 else { throw ExecErrors.cannotStart(program.arguments.first ?? "", number) }
        return id
    }

    private static func withCStrings<Result>(
        _ texts: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Result
    ) -> Result {
        let strings = texts.map { strdup($0) } + [nil]
        defer { strings.forEach { free($0) } }
        return strings.withUnsafeBufferPointer { body($0.baseAddress) }
    }

    // MARK: Exchange

    /// Whether the program has ended by itself.
    var hasEnded: Bool { end != nil || cspawn_wait_until_ended(id, 0) != 0 }

    /// Waits for output for at most so many milliseconds; returns whether there is any, or it has ended.
    func hasOutput(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }

    /// Checks that the program has written nothing since the last exchange.
    ///
    /// - Throws: `unavailable` if it has, or if its output has ended.
    func requireSilence() throws(TrackerError) {
        let count = withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { readBytes(output, into: $0) }
        if count == 0 { throw ExecErrors.ended }
        if count > 0 { throw ExecErrors.badAnswer("it came before the delivery") }
    }

    /// Sends bytes and receives output, until all is sent and `receive` says that this was all.
    ///
    /// `receive` gets the output piece by piece, and no bytes at its end. Throws `timeout` at the deadline, `cancelled` after an interrupt,
    /// what `receive` throws, and `unavailable` if the program ends before that was all.
    func exchange(
        _ bytes: [UInt8],
        until deadline: ContinuousClock.Instant,
        _ interrupt: Interrupt,
        receive: (UnsafeRawBufferPointer) throws(TrackerError) -> Bool
    ) throws(TrackerError) {
        var sent = 0
        // A program that does not read any more may have ended, which its output shows.
        var reads = true
        while true {
            let ready = try wait(forInput: reads && sent < bytes.count, until: deadline, interrupt)
            if ready.output, try takeOutput(receive) {
                guard sent == bytes.count else {
                    throw ExecErrors.badAnswer("it came before the whole delivery was sent")
                }
                return
            }
            if ready.input {
                do throws(TrackerError) { sent += try send(bytes, from: sent) } catch { reads = false }
            }
        }
    }

    private func wait(
        forInput: Bool,
        until deadline: ContinuousClock.Instant,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> (input: Bool, output: Bool) {
        var requests = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
        if forInput, let input { requests.append(pollfd(fd: input, events: Int16(POLLOUT), revents: 0)) }
        let count = poll(&requests, nfds_t(requests.count), Self.checkInMilliseconds)
        if interrupt.isRaised { throw .cancelled }
        if ContinuousClock.now >= deadline { throw ExecErrors.timeout }
        guard count > 0 else { return (false, false) }
        return (requests.count == 2 && requests[1].revents != 0, requests[0].revents != 0)
    }

    private func takeOutput(
        _ receive: (UnsafeRawBufferPointer) throws(TrackerError) -> Bool
    ) throws(TrackerError) -> Bool {
        let result = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer in
            let count = readBytes(output, into: buffer)
            // Nothing is there after all.
            if count < 0 { return Result<Bool, TrackerError>.success(false) }
            return Result { () throws(TrackerError) in
                let isAll = try receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                if count == 0, !isAll { throw ExecErrors.ended }
                return isAll
            }
        }
        return try result.get()
    }

    private func send(_ bytes: [UInt8], from start: Int) throws(TrackerError) -> Int {
        guard let input else { throw ExecErrors.ended }
        let count = bytes.withUnsafeBytes { writeBytes(input, UnsafeRawBufferPointer(rebasing: $0[start...])) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw ExecErrors.ended
    }

    /// Sends bytes to which no answer may come yet.
    func send(
        _ bytes: [UInt8],
        until deadline: ContinuousClock.Instant,
        _ interrupt: Interrupt
    ) throws(TrackerError) {
        var sent = 0
        while sent < bytes.count {
            let ready = try wait(forInput: true, until: deadline, interrupt)
            if ready.output { try requireSilence() }
            if ready.input { sent += try send(bytes, from: sent) }
        }
    }

    /// Sends bytes, and returns the line that the program answers with.
    ///
    /// Throws as `exchange`, and `failed` for more than a line, or for one that is longer than the answer to so many events can be.
    func answer(
        to bytes: [UInt8],
        of count: Int,
        until deadline: ContinuousClock.Instant,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> [UInt8] {
        var answer: [UInt8] = []
        let limit = LinesAnswer.maximumBytes(of: count)
        try exchange(bytes, until: deadline, interrupt) { piece throws(TrackerError) in
            guard answer.count + piece.count <= limit else {
                throw ExecErrors.badAnswer("it is too long")
            }
            let end = piece.firstIndex(of: UInt8(ascii: "\n"))
            answer.append(contentsOf: piece)
            if let end, end < piece.count - 1 { throw ExecErrors.badAnswer("it has more than one line") }
            return end != nil
        }
        return answer
    }

    /// Sends pieces until there are no more, closes standard input, and passes the output to `receive` until it ends.
    ///
    /// A program that reads no further gets no further pieces, and is waited for all the same. Throws `timeout` at the deadline,
    /// `cancelled` after an interrupt, and what `receive` throws.
    func feed(
        _ next: () -> [UInt8]?,
        until deadline: ContinuousClock.Instant,
        _ interrupt: Interrupt,
        receive: (UnsafeRawBufferPointer) throws(TrackerError) -> Void
    ) throws(TrackerError) {
        var piece = next()
        var sent = 0
        while true {
            if let sending = piece, sent == sending.count { (piece, sent) = (next(), 0) }
            if piece == nil { closeInput() }
            // Asked before the output, so that nothing is missed that the program wrote before it ended.
            let hadEnded = hasEnded
            let ready = try wait(forInput: piece != nil, until: deadline, interrupt)
            if ready.output {
                let isEnd = try takeOutput { bytes throws(TrackerError) in
                    try receive(bytes)
                    return bytes.isEmpty
                }
                if isEnd {
                    // It may wait for the end of its input before it ends.
                    closeInput()
                    return
                }
            }
            if ready.input, let sending = piece {
                do throws(TrackerError) { sent += try send(sending, from: sent) } catch { piece = nil }
            }
            // Processes that it has started may keep its output open.
            if !ready.input, !ready.output, hadEnded { return }
        }
    }

    // MARK: End

    /// Waits until the program has ended by itself.
    ///
    /// Throws `timeout` at the deadline, and `cancelled` after an interrupt.
    func waitUntilEnded(until deadline: ContinuousClock.Instant, _ interrupt: Interrupt) throws(TrackerError) {
        while end == nil, cspawn_wait_until_ended(id, Self.checkInMilliseconds) == 0 {
            if interrupt.isRaised { throw .cancelled }
            if ContinuousClock.now >= deadline { throw ExecErrors.timeout }
        }
    }

    /// The last lines that the program wrote to standard error.
    func lastErrorLines() -> [String] { errorOutput.lastLines() }

    /// Closes standard input, and sends SIGTERM.
    func requestEnd() {
        closeInput()
        if cspawn_wait_until_ended(id, 0) == 0 { kill(-id, SIGTERM) }
    }

    private func closeInput() {
        if let input { closeDescriptor(input) }
        input = nil
    }

    /// Requests the end, and sends SIGKILL to the whole group once the program has ended or the time is over, which an interrupt ends.
    func end(within grace: Duration, _ interrupt: Interrupt = Interrupt()) -> End {
        if let end { return end }
        requestEnd()
        let deadline = ContinuousClock.now + grace
        while !interrupt.isRaised, ContinuousClock.now < deadline {
            if cspawn_wait_until_ended(id, Self.checkInMilliseconds) != 0 { break }
        }
        // Before the program is waited for, so that its number still stands for its group; if another part of this process has waited for
        // it, the number may be a stranger's.
        if cspawn_wait_until_ended(id, 0) >= 0 { kill(-id, SIGKILL) }
        let end = reap()
        self.end = end
        _ = errorOutput.lastLines()
        errorOutput.close()
        return end
    }

    private func reap() -> End {
        // A process that hangs in the kernel, as on a dead disk, ends later, and is left.
        guard cspawn_wait_until_ended(id, Self.killInMilliseconds) != 0 else { return .unknown }
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 {
            if errno != EINTR { return .unknown }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal)
    }
}

/// Lets a write to a program that has ended fail with an error only, on this thread.
func ignorePipeSignals() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// Reads once; as `read`.
func readBytes(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Glibc)
    Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Musl)
    Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #else
    Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
}

/// Writes once; as `write`.
func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
    Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
    Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #else
    Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
}
