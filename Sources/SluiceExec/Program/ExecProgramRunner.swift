package import Logging
package import TrackerKit

/// Runs programs as those of `exec` trackers are run: without a shell, with a small environment, and ended with the thread.
package struct ExecProgramRunner: ProgramRunner {
    private let logger: Logger

    /// Creates a runner that logs what programs write to standard error.
    package init(logger: Logger) {
        self.logger = logger
    }

    package func run(_ run: ProgramRun, _ interrupt: Interrupt) throws(TrackerError) {
        var configuration = ExecConfiguration(command: run.command, name: run.tracker)
        configuration.environment = run.environment
        try ProgramDescription.check(configuration)
        ignorePipeSignals()
        let description = try ProgramDescription(configuration)
        let program = try ChildProcess(description, tracker: run.tracker, logger: logger)
        do throws(TrackerError) {
            let deadline = ContinuousClock.now + run.timeout
            // What it writes to standard output is of no use, and it must not wait for somebody to read it.
            try program.feed({ nil }, until: deadline, interrupt) { _ throws(TrackerError) in }
            try program.waitUntilEnded(until: deadline, interrupt)
        } catch {
            _ = program.end(within: configuration.grace, interrupt)
            guard error.code == .timeout else { throw error }
            throw TrackerError(
                code: .timeout,
                message: "The program took longer than \(run.timeout.components.seconds) s, so Sluice terminated it.",
                isRetryable: true
            )
        }
        let end = program.end(within: .zero)
        if case .exited(0) = end { return }
        let line = program.lastErrorLines().last.map { " Its last line on standard error: \($0)" } ?? ""
        throw ExecErrors.failed("The program ended with \(end.words).\(line)")
    }
}
