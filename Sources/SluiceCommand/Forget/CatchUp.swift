import EventJournal
import EventModel
import Loader
import Operations
import SluiceSettings
import TrackerKit

/// Waits until the destinations have what was received before a request to erase people.
///
/// Only rows show which devices a person has used. If they come later, the tombstones drop those that name the person, so nothing would
/// ever show the devices of those without a user.
struct CatchUp {
    /// How long it waits for processes that run.
    private static let patience = Duration.seconds(30)
    private static let pause = Duration.milliseconds(500)

    /// Something that has not been loaded.
    private struct Delay {
        /// Who has not loaded what.
        let sentence: String
        /// Whether a process may be about to load it.
        let mayEnd: Bool
    }

    /// The journal's folder; `nil` if there is none.
    let journal: String?
    /// The socket of the server that has the journal open; `nil` for the one beside the journal.
    let socket: String?
    /// The trackers that deliver the journal's events to the destinations, or to the relay.
    let journalTrackers: [String]
    /// Says how far the loader is; `nil` if there is none.
    let loaderStatus: (@Sendable () async -> LoaderStatus)?
    private let clock = RelativeClock(ContinuousClock())

    /// Waits for what was received before now; returns what has not been loaded in time.
    func wait() async throws -> [String] {
        let start = clock.now()
        var isWaiting = false
        while true {
            let waited = clock.now() - start
            let delays = await journalDelays(since: waited) + loaderDelays(since: waited)
            guard delays.contains(where: \.mayEnd), waited < Self.patience else { return delays.map(\.sentence) }
            if !isWaiting {
                Terminal.printError("Waiting until the destinations have all events of before the request.")
            }
            isWaiting = true
            try await clock.sleepUntil(clock.now() + Self.pause)
        }
    }

    /// Whether something that has waited for `seconds`, or unknown long, was there before `duration`.
    private static func isOlder(_ seconds: Double?, than duration: Duration) -> Bool {
        seconds.map { .seconds($0) >= duration } ?? true
    }

    /// What was there before `duration` and is not delivered.
    private func journalDelays(since duration: Duration) async -> [Delay] {
        guard let journal else { return [] }
        let process = RunningProcess(.socket(socket ?? Settings.socketPath(ofJournal: journal)))
        if await process.isRunning, let status = try? await process.status() {
            // More exact than the cursors, which stay where they are while a tracker gets nothing.
            return status.trackers.compactMap { tracker in
                guard journalTrackers.contains(tracker.name), tracker.lagEvents > 0,
                    Self.isOlder(tracker.lagSeconds, than: duration)
                else { return nil }
                return Delay(
                    sentence: "'\(tracker.name)' has not delivered \(tracker.lagEvents.of("event"))",
                    mayEnd: true
                )
            }
        }
        guard let found = try? Inspection(ExistingJournal(reading: journal).files) else { return [] }
        let names = Set(journalTrackers.map { $0.lowercased() })
        return found.cursors.filter { names.contains($0.tracker) && found.lag(of: $0) > 0 }.map { cursor in
            let count = Int(clamping: found.lag(of: cursor)).of("event")
            return Delay(
                sentence: "'\(cursor.tracker)' has not delivered up to \(count) of the journal '\(journal)'",
                mayEnd: false
            )
        }
    }

    /// What was there before `duration` and is not loaded.
    private func loaderDelays(since duration: Duration) async -> [Delay] {
        guard let status = await loaderStatus?() else { return [] }
        return status.trackers.flatMap { tracker in
            let own = tracker.problem.map { [Delay(sentence: "'\(tracker.tracker)': \($0)", mayEnd: false)] } ?? []
            return own
                + tracker.partitions.compactMap { partition in
                    let isOld = partition.lag == nil || Self.isOlder(partition.lagSeconds, than: duration)
                    guard partition.lag != 0, isOld else { return nil }
                    let count = partition.lag.map { Int($0).of("record") } ?? "its records"
                    let sentence = """
                        the loader '\(status.loader)' has not loaded \(count) of partition \(partition.partition) for \
                        '\(tracker.tracker)'
                        """
                    return Delay(sentence: sentence, mayEnd: partition.owner != nil && partition.problem == nil)
                }
        }
    }
}
