import ArgumentParser
import EventModel
import Operations

/// `sluice drain`: prepares a running `serve` for its end.
struct DrainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Make a running server stop accepting events, and wait until it has delivered all of them.",
        discussion: """
            Exits with 0 once everything is delivered, so that the process can be stopped. Exits with 1, and names the tracker, \
            if one is blocked or paused, or has not delivered everything in time; its events stay in the journal. Also exits \
            with 1 if a tracker refuses, parks or drops events in the meantime. From now on, senders get 503; the process \
            accepts events again after 'sluice drain --undo' or a restart.
            """
    )

    @Flag(help: "Make the process accept events again, and do not wait.")
    var undo = false

    @Option(help: ArgumentHelp("How long to wait, in seconds.", valueName: "seconds"))
    var timeout = 300

    @OptionGroup var control: ControlOptions

    func run() async throws {
        let process = try await control.process()
        guard !undo else {
            try await process.change("/v1/intake/open")
            return Terminal.printError("The process accepts events again.")
        }
        try await process.change("/v1/intake/close")
        let before = try await process.status()
        let clock = RelativeClock(ContinuousClock())
        let end = clock.now() + .seconds(timeout)
        var lastLine = ""
        while true {
            let status = try await process.status()
            guard let behind = status.trackers.first(where: { $0.lagEvents > 0 }) else {
                let waiting = status.waitingBatches + status.committingBatches
                if waiting == 0 {
                    try Self.checkLosses(before: before, after: status)
                    return Terminal.printError("\(Self.success(status)); the process can be stopped.")
                }
                if clock.now() >= end {
                    throw Terminal.failure("Not in a queue or in the journal yet: \(waiting) accepted batches.")
                }
                try await clock.sleepUntil(clock.now() + .milliseconds(200))
                continue
            }
            if let stuck = status.trackers.first(where: Self.isStuck) ?? (clock.now() >= end ? behind : nil) {
                let reason = stuck.reason.map { ": \($0)" } ?? "."
                let count = (stuck.lagIsUpperBound ? "at most " : "") + stuck.lagEvents.of("event")
                let verb = stuck.lagEvents == 1 ? "waits" : "wait"
                throw Terminal.failure(
                    "The tracker '\(stuck.name)' is \(stuck.status), and \(count) \(verb) for it\(reason)"
                )
            }
            let line = "\(behind.lagEvents.of("event")) left for '\(behind.name)' (\(behind.status))"
            if line != lastLine { Terminal.printError("\(line)") }
            lastLine = line
            try await clock.sleepUntil(clock.now() + .milliseconds(200))
        }
    }

    /// What has become of all events; some may have been refused or parked before.
    private static func success(_ status: StatusReport) -> String {
        let quarantined = status.trackers.reduce(0) { $0 + $1.refused + $1.parked }
        guard quarantined > 0 else { return "All events are delivered" }
        let count = quarantined.of("event")
        return "All events are delivered, except \(count) that this process has stored in the quarantine"
    }

    /// Fails if a tracker has settled events without delivering them.
    private static func checkLosses(before: StatusReport, after: StatusReport) throws {
        for tracker in after.trackers {
            let earlier = before.trackers.first { $0.name == tracker.name }
            let losses = [
                ("refused", tracker.refused - (earlier?.refused ?? 0)),
                ("parked", tracker.parked - (earlier?.parked ?? 0)),
                ("dropped", tracker.dropped - (earlier?.dropped ?? 0)),
            ].filter { $0.1 > 0 }
            guard losses.isEmpty else {
                let list = losses.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
                throw Terminal.failure(
                    "The tracker '\(tracker.name)' did not deliver all events: \(list). The quarantine has those that were refused or parked."
                )
            }
        }
    }

    /// Whether a tracker will not deliver its events by itself.
    private static func isStuck(_ tracker: StatusReport.Tracker) -> Bool {
        tracker.lagEvents > 0 && (tracker.status == "blocked" || tracker.status == "paused")
    }
}
