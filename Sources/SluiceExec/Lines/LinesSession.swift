import EventModel
import Logging
import TrackerKit

/// The program, and the thread that started it and waits for it.
actor LinesSession: ProgramSession {
    private let configuration: ExecConfiguration
    private let logger: Logger
    private let thread: BlockingThread
    private let clock: RelativeClock
    private var program: ChildProcess?
    /// A program whose delivery was cancelled: its end was requested, and is waited for later.
    private var ending: ChildProcess?
    /// The number of the last delivery.
    private var number = 0
    /// How many deliveries have failed since one brought something to its destination.
    private var failures = 0
    /// Until when the program wants no delivery.
    private(set) var pauseEnd = Duration.zero
    private var ends: EndLog

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ configuration: ExecConfiguration, logger: Logger, clock: RelativeClock) throws(TrackerError) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        ends = EndLog(tracker: configuration.name, logger: logger)
        thread = try BlockingThread()
    }

    /// Starts the program, unless it runs.
    func start() throws(TrackerError) {
        _ = try runningProgram()
    }

    /// Sends the events to the program, and reads its answer.
    func deliver(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        do throws(TrackerError) {
            number += 1
            let request = LinesRequest(delivery, number: number, attempt: failures + 1)
            let line = try exchange(request.bytes, of: delivery.count, interrupt)
            let answer = try LinesAnswer(line, to: number, of: delivery.count)
            let retried = answer.outcome.retry?.positions?.count ?? 0
            failures = retried == delivery.count && retried > 0 ? failures + 1 : 0
            if answer.outcome.retry == nil { ends.noteSuccess(now: clock.now()) }
            pauseEnd = clock.now() + answer.pause
            return answer.outcome
        } catch {
            failures += 1
            _ = endProgram(because: error, interrupt)
            return .retry(error)
        }
    }

    /// Asks the program whether it can deliver these events.
    func check(_ events: [String], _ interrupt: Interrupt) throws(TrackerError) {
        let answer: LinesAnswer
        do throws(TrackerError) {
            number += 1
            let line = try exchange(LinesRequest(checkOf: events, number: number).bytes, of: 0, interrupt)
            answer = try LinesAnswer(line, to: number, of: 0)
        } catch {
            let end = endProgram(because: error, interrupt)
            throw TrackerError(
                code: error.code,
                message: ([error.message] + end).joined(separator: " "),
                isRetryable: error.isRetryable
            )
        }
        if let reason = answer.retryReason { throw reason }
    }

    /// Ends the program.
    func stop() {
        _ = ending?.end(within: configuration.grace)
        ending = nil
        guard let program else { return }
        self.program = nil
        let end = program.end(within: configuration.grace)
        logger.debug("The program has ended.", metadata: ["tracker": "\(configuration.name)", "end": "\(end.words)"])
    }

    // MARK: The program

    private func runningProgram(_ interrupt: Interrupt = Interrupt()) throws(TrackerError) -> ChildProcess {
        if let ending {
            _ = ending.end(within: configuration.grace, interrupt)
            self.ending = nil
        }
        if let program {
            if !program.hasEnded { return program }
            _ = endProgram(because: ExecErrors.ended, interrupt)
        }
        ignorePipeSignals()
        let description = try ProgramDescription(configuration)
        let program = try ChildProcess(description, tracker: configuration.name, logger: logger)
        self.program = program
        return program
    }

    /// Sends a request, and returns the line that answers it.
    private func exchange(_ request: [UInt8], of count: Int, _ interrupt: Interrupt) throws(TrackerError) -> [UInt8] {
        let program = try runningProgram(interrupt)
        try program.requireSilence()
        return try program.answer(to: request, of: count, until: .now + configuration.timeout, interrupt)
    }

    /// Ends a program that did not answer as it should, so that the next delivery starts it anew; returns sentences about its end.
    private func endProgram(because error: TrackerError, _ interrupt: Interrupt) -> [String] {
        guard let program else { return [] }
        self.program = nil
        if error.code == .cancelled {
            program.requestEnd()
            ending = program
            return []
        }
        let end = program.end(within: configuration.grace, interrupt)
        return ends.report(
            "The program has ended, and is started again for the next delivery.",
            of: program,
            end,
            because: error,
            now: clock.now()
        )
    }
}
