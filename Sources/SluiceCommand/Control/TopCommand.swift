import ArgumentParser
import EventModel
import Foundation
import Operations

/// `sluice top`: what a running `serve` does, once a second.
struct TopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show the state of a running server and its rates, once a second until Ctrl-C."
    )

    @OptionGroup var control: ControlOptions

    func run() async throws {
        guard isatty(STDOUT_FILENO) == 1 else {
            throw Terminal.failure("'sluice top' needs a terminal; 'sluice status --json' is for programs.")
        }
        let process = try await control.process()
        let clock = RelativeClock(ContinuousClock())
        var last: (status: StatusReport, at: Duration)?
        while true {
            let (status, now) = (try await process.status(), clock.now())
            let rates = last.map { Self.rates(from: $0.status, to: status, within: now - $0.at) }
            last = (status, now)
            try Terminal.replaceScreen(with: StatusText(status, rates: rates ?? (0, [:])).lines)
            try await clock.sleepUntil(now + .seconds(1))
        }
    }

    /// How many events were accepted each second, and how many each tracker delivered.
    private static func rates(
        from before: StatusReport,
        to after: StatusReport,
        within time: Duration
    ) -> (accepted: Double, delivered: [String: Double]) {
        let seconds = max(time / .seconds(1), 0.001)
        var delivered: [String: Double] = [:]
        for (old, new) in zip(before.trackers, after.trackers) where old.name == new.name {
            // A restart begins at zero.
            delivered[new.name] = Double(max(0, new.delivered - old.delivered)) / seconds
        }
        return (Double(max(0, after.accepted - before.accepted)) / seconds, delivered)
    }
}
