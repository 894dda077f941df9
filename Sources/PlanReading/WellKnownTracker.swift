package import EventSchema

/// The trackers whose names mean something to a plan; compare them in lower case.
///
/// They are stated here because the build plugin checks plans as `sluice lint` does and links no tracker. A test compares
/// them with the types of trackers; a type that is not here means nothing to a plan.
package enum WellKnownTracker {
    /// The tracker that prints events for people.
    package static let console = "console"
    /// The tracker that keeps a table for each of its events; a plan names others in `postgresTrackers`.
    package static let postgres = "postgres"
    /// The tracker that writes to Kafka.
    package static let kafka = "kafka"

    /// All of them.
    package static let all = [console, postgres, kafka]
}

extension EventDefinition {
    /// Whether its events become rows, and its properties columns.
    package var hasTable: Bool { trackers.contains(where: fillsTable) }

    /// Whether a tracker keeps a table for its events.
    package func fillsTable(_ tracker: String) -> Bool {
        tracker.lowercased() == WellKnownTracker.postgres || postgresTrackers.contains(tracker.lowercased())
    }

    /// Notes which of its trackers keep a table; `postgresTrackers` are names in lower case.
    package mutating func notePostgresTrackers(_ postgresTrackers: Set<String>) {
        self.postgresTrackers = trackers.map { $0.lowercased() }.filter(postgresTrackers.contains)
    }
}

extension TrackingPlan {
    /// The same plan, in which these trackers keep tables.
    package func notingPostgresTrackers(_ postgresTrackers: Set<String>) -> TrackingPlan {
        var plan = self
        for index in plan.events.indices { plan.events[index].notePostgresTrackers(postgresTrackers) }
        return plan
    }
}
