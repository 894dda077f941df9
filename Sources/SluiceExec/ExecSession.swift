import EventModel
import Logging
import TrackerKit

/// The program, and the thread that started it and waits for it.
actor ExecSession {
    private let configuration: ExecConfiguration
    private let logger: Logger
    private let thread: BlockingThread
    private let clock: RelativeClock
    private var program: ChildProcess?
    /// The number of the last delivery.
    private var number = 0
    /// How many deliveries have failed since one brought something to its destination.
    private var failures = 0
    /// Until when the program wants no delivery.
    private(set) var pauseEnd = Duration.zero
    /// For the log: a program that ends again and again.
    private var ends = FailureEpisode()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ configuration: ExecConfiguration, logger: Logger, clock: RelativeClock) throws(TrackerError) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
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
            let answer = try LinesAnswer(exchange(request, interrupt), to: number, of: delivery.count)
            let retried = answer.outcome.retry?.positions?.count ?? 0
            failures = retried + answer.outcome.refusals.count < delivery.count ? 0 : failures + 1
            if answer.outcome.retry == nil { _ = ends.ended(now: clock.now()) }
            pauseEnd = clock.now() + answer.pause
            return answer.outcome
        } catch {
            failures += 1
            endProgram(because: error, interrupt)
            return .retry(error)
        }
    }

    /// Asks the program whether it can deliver these events.
    func check(_ events: [String], _ interrupt: Interrupt) throws(TrackerError) {
        do throws(TrackerError) {
            number += 1
            let answer = try LinesAnswer(
                exchange(LinesRequest(checkOf: events, number: number), interrupt),
                to: number,
                of: 0
            )
            if let reason = answer.retryReason { throw reason }
        } catch {
            endProgram(because: error, interrupt)
            throw error
        }
    }

    /// Ends the program.
    func stop() {
        guard let program else { return }
        self.program = nil
        let end = program.end(within: configuration.grace)
        logger.debug("The program has ended.", metadata: ["tracker": "\(configuration.name)", "end": "\(end.words)"])
    }

    // MARK: The program

    private func runningProgram() throws(TrackerError) -> ChildProcess {
        if let program {
            if !program.hasEnded { return program }
            endProgram(because: ExecErrors.ended, Interrupt())
        }
        ignorePipeSignals()
        let description = try ProgramDescription(configuration)
        let program = try ChildProcess(description, tracker: configuration.name, logger: logger)
        self.program = program
        return program
    }

    /// Sends a request, and returns the line that answers it.
    private func exchange(_ request: LinesRequest, _ interrupt: Interrupt) throws(TrackerError) -> [UInt8] {
        let program = try runningProgram()
        try program.requireSilence()
        return try program.answer(to: request.bytes, until: .now + configuration.timeout, interrupt)
    }

    /// Ends a program that did not answer as it should, so that the next delivery starts it anew.
    private func endProgram(because error: TrackerError, _ interrupt: Interrupt) {
        guard let program else { return }
        self.program = nil
        let end = program.end(within: configuration.grace, interrupt)
        guard let summary = ends.failed(because: "\(error)", now: clock.now()) else { return }
        logger.warning(
            "The program has ended, and is started again for the next delivery.",
            metadata: [
                "tracker": "\(configuration.name)", "end": "\(end.words)", "error": "\(error)",
                "ends": "\(summary.count)",
                "lastLines": "\(program.lastErrorLines().joined(separator: " | "))",
            ]
        )
    }
}
