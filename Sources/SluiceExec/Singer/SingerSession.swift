import EventModel
import Logging
import TrackerKit

/// Runs a Singer target for each delivery: targets confirm what they have stored only at the end of their input.
actor SingerSession: ProgramSession {
    /// A target takes seconds to start and to connect, so it gets many events at a time.
    static let deliveryLimits = DeliveryLimits(
        maximumEvents: 100_000,
        maximumBytes: 32 << 20,
        linger: .seconds(30)
    )

    /// Why a run has failed, and sentences about its end.
    private struct Failure: Error {
        let error: TrackerError
        var end: [String] = []
    }

    private let configuration: ExecConfiguration
    private let logger: Logger
    private let thread: BlockingThread
    private let clock: RelativeClock
    /// Tells the states of this tracker from those of one in another process.
    private let run = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    /// The number of the last run.
    private var number = 0
    /// A program whose run was cancelled: its end was requested, and is waited for later.
    private var ending: ChildProcess?
    private var ends: EndLog

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ configuration: ExecConfiguration, logger: Logger, clock: RelativeClock) throws(TrackerError) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        ends = EndLog(tracker: configuration.name, logger: logger)
        thread = try BlockingThread()
    }

    /// None: a target can only fail.
    var pauseEnd: Duration { .zero }

    /// Checks that the program is there.
    func start() throws(TrackerError) {
        try ProgramDescription(configuration).checkProgram()
    }

    /// Runs the program with the events.
    func deliver(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        do throws(Failure) {
            let messageOnFailure: Logger.Message = "The program has failed, and is run again for its delivery."
            return .refused(try runProgram(with: delivery, messageOnFailure, interrupt))
        } catch {
            return .retry(error.error)
        }
    }

    /// Runs the program with a state only, so that it makes no tables yet.
    func check(_ events: [String], _ interrupt: Interrupt) throws(TrackerError) {
        do throws(Failure) {
            _ = try runProgram(with: Delivery([]), "The program has failed during the check.", interrupt)
        } catch {
            throw TrackerError(
                code: error.error.code,
                message: ([error.error.message] + error.end).joined(separator: " "),
                isRetryable: error.error.isRetryable
            )
        }
    }

    /// Waits for a program whose run was cancelled.
    func stop() {
        _ = ending?.end(within: configuration.grace)
        ending = nil
    }

    /// Runs the program until it has ended with 0 and its last line is the state of this delivery.
    ///
    /// Returns the events that were not sent, because they can never be.
    private func runProgram(
        with delivery: Delivery,
        _ messageOnFailure: Logger.Message,
        _ interrupt: Interrupt
    ) throws(Failure) -> [DeliveryOutcome.Refusal] {
        number += 1
        let state = SingerState(tracker: configuration.name, run: run, delivery: number)
        var messages = SingerMessages(delivery, decimals: configuration.decimals, state: state)
        let program: ChildProcess
        do throws(TrackerError) { program = try startedProgram(interrupt) } catch { throw Failure(error: error) }
        do throws(TrackerError) {
            let deadline = ContinuousClock.now + configuration.timeout
            var output = LastLine()
            try program.feed({ messages.next() }, until: deadline, interrupt) { bytes throws(TrackerError) in
                try output.append(bytes)
            }
            try program.waitUntilEnded(until: deadline, interrupt)
            let end = program.end(within: .zero)
            guard case .exited(0) = end else { throw ExecErrors.endedBadly(end.words) }
            guard state.isStated(by: output.bytes) else { throw ExecErrors.notConfirmed }
        } catch {
            throw Failure(error: error, end: endProgram(program, messageOnFailure, because: error, interrupt))
        }
        ends.noteSuccess(now: clock.now())
        return messages.refusals
    }

    private func startedProgram(_ interrupt: Interrupt) throws(TrackerError) -> ChildProcess {
        _ = ending?.end(within: configuration.grace, interrupt)
        ending = nil
        ignorePipeSignals()
        let description = try ProgramDescription(configuration)
        return try ChildProcess(description, tracker: configuration.name, logger: logger)
    }

    /// Ends a program that failed, if it runs; returns sentences about its end.
    private func endProgram(
        _ program: ChildProcess,
        _ message: Logger.Message,
        because error: TrackerError,
        _ interrupt: Interrupt
    ) -> [String] {
        if error.code == .cancelled {
            program.requestEnd()
            ending = program
            return []
        }
        return ends.report(
            message,
            of: program,
            program.end(within: configuration.grace, interrupt),
            because: error,
            now: clock.now()
        )
    }
}
