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
            try Terminal.replaceScreen(with: StatusText(status, rates: rates ?? StatusText.Rates()).lines)
            try await clock.sleepUntil(now + .seconds(1))
        }
    }

    private static func rates(
        from before: StatusReport,
        to after: StatusReport,
        within time: Duration
    ) -> StatusText.Rates {
        // A restart begins at zero.
        func rate(_ old: Int?, _ new: Int?) -> Double {
            Double(max(0, (new ?? 0) - (old ?? 0))) / max(time / .seconds(1), 0.001)
        }
        var rates = StatusText.Rates(
            accepted: rate(before.accepted, after.accepted),
            rejected: rate(before.rejected, after.rejected)
        )
        for (old, new) in zip(before.trackers, after.trackers) where old.name == new.name {
            rates.delivered[new.name] = rate(old.delivered, new.delivered)
        }
        return rates
    }
}
