import EventValidation
import TrackerKit

/// Checks all destinations at the same time, each with a time limit.
struct DestinationCheck {
    let catalog: EventCatalog
    let usesJournal: Bool
    /// Whether `sluice load` will load events into them.
    let loadsPartitions: Bool
    let limit: Duration
    var clock: any Clock<Duration> = ContinuousClock()

    /// Returns a part of the report for each tracker, in their order.
    func parts(of trackers: [any Tracker]) async -> [CheckReport.Part] {
        await withTaskGroup { group in
            for (place, tracker) in trackers.enumerated() {
                group.addTask { (place, await part(of: tracker)) }
            }
            var parts: [(Int, CheckReport.Part)] = []
            for await part in group { parts.append(part) }
            return parts.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func part(of tracker: any Tracker) async -> CheckReport.Part {
        let problems = await problems(of: tracker)
        await tracker.stop()
        return CheckReport.Part(
            name: tracker.name,
            summary: tracker is any CheckableTracker ? "it can accept the plan's events" : "its settings are valid",
            problems: problems.map { CheckReport.Problem(code: $0.code.description, sentence: $0.message) }
                + silence(of: tracker)
        )
    }

    /// The problem that no event names the tracker; none if there is no plan, whose part says so.
    private func silence(of tracker: any Tracker) -> [CheckReport.Problem] {
        guard !catalog.definitions.isEmpty else { return [] }
        let match = TrackerMatch(of: catalog, configured: [tracker.name])
        return match.unused.map {
            CheckReport.Problem(code: "unused-tracker", sentence: match.description(ofUnused: $0))
        }
    }

    private func problems(of tracker: any Tracker) async -> [TrackerError] {
        let catalog = catalog.visible(to: tracker.name)
        do throws(TrackerError) {
            try tracker.checkSettings(for: catalog)
        } catch {
            return [error]
        }
        guard let tracker = tracker as? any CheckableTracker else { return [] }
        return await withTaskGroup { group in
            group.addTask {
                let outline = PipelineOutline(
                    catalog: catalog,
                    hasJournal: usesJournal,
                    loadsPartitions: loadsPartitions
                )
                return await tracker.problems(in: outline) as [TrackerError]?
            }
            group.addTask {
                try? await clock.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap { $0 } ?? [timeout]
        }
    }

    private var timeout: TrackerError {
        TrackerError(
            code: .timeout,
            message: "It did not answer within \(limit); check the address and the network, or increase --timeout.",
            isRetryable: true
        )
    }
}
