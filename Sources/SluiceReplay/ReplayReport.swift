package import EventPipeline

/// The result of a replay.
package struct ReplayReport: Sendable {
    /// The number of events that were read, valid or not.
    package var read = 0
    /// The number of events that the pipeline has accepted.
    package var accepted = 0
    /// The number of events that do not follow the plan.
    package var rejected = 0
    /// How many of the rejected events were of erased people, and were not quarantined.
    package var rejectedForgotten = 0
    /// The number of events that filters excluded.
    package var skipped = 0
    /// The number of events for each code of a violation; an event may have several.
    package var rejectedByCode: [String: Int] = [:]
    /// What the pipeline has counted for each tracker.
    package var trackers: [TrackerStatistics] = []
    /// A sentence for each input in which there was something other than events.
    package var notes: [String] = []
    /// A sentence for each input or part of it that could not be read or delivered.
    package var failures: [String] = []
    /// The time from the start of the replay to its end.
    package var duration = Duration.zero

    /// Creates a report in which nothing was read.
    package init() {}

    /// The exit status: 1 if something was not read or delivered, 2 if events were rejected, and otherwise 0.
    package var exitCode: Int32 {
        if !failures.isEmpty || trackers.contains(where: { $0.enqueued > $0.delivered }) { return 1 }
        return rejected > 0 ? 2 : 0
    }

    /// The duration in seconds.
    package var seconds: Double {
        Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    /// The output of `sluice replay --json`; counts of a tracker are by its name.
    package struct Summary: Encodable, Sendable {
        package let read: Int
        package let accepted: Int
        package let rejected: Int
        package let rejectedForgotten: Int
        package let skipped: Int
        package let rejectedByCode: [String: Int]
        package let delivered: [String: Int]
        package let alreadyThere: [String: Int]
        package let refused: [String: Int]
        package let parked: [String: Int]
        package let undelivered: [String: Int]
        package let forgotten: [String: Int]
        package let notes: [String]
        package let failures: [String]
        package let seconds: Double
    }

    /// The report as it is printed in JSON.
    package var summary: Summary {
        Summary(
            read: read,
            accepted: accepted,
            rejected: rejected,
            rejectedForgotten: rejectedForgotten,
            skipped: skipped,
            rejectedByCode: rejectedByCode,
            delivered: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.delivered) }),
            alreadyThere: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.alreadyStored) }),
            refused: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.refused) }),
            parked: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.parked) }),
            undelivered: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.undelivered) }),
            forgotten: Dictionary(uniqueKeysWithValues: trackers.map { ($0.name, $0.forgotten) }),
            notes: notes,
            failures: failures,
            seconds: (seconds * 1000).rounded() / 1000
        )
    }
}

extension TrackerStatistics {
    /// Events that are neither delivered nor in the quarantine.
    package var undelivered: Int { enqueued - delivered - refused - parked }
}
