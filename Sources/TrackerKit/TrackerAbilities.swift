package import EventModel
package import EventSchema
package import EventValidation

// What some trackers can do beyond delivering events. A command asks whether a tracker has the ability that it needs, and does not
// name the tracker's type. `CheckableTracker`, `CheckpointingTracker` and `PartitionTracker` are the others.

/// A tracker that can create and extend the tables of its destination; `sluice migrate` calls it.
package protocol MigratableTracker: Tracker {
    /// Makes the changes that the destination needs for the plan's events.
    ///
    /// - Returns: A line for each change; empty if the destination matches the plan.
    /// - Throws: Why the destination cannot match the plan.
    func migrate(_ request: MigrationRequest) async throws(TrackerError) -> [String]

    /// The statements with which `migrate` would make its changes now; runs none of them.
    ///
    /// - Throws: What `migrate` throws before it changes a table.
    func migrationStatements(_ request: MigrationRequest) async throws(TrackerError) -> MigrationStatements
}

/// What a tracker's destination is to match.
package struct MigrationRequest: Sendable {
    /// The plan; each event that goes to the tracker gets a table.
    package let plan: TrackingPlan
    /// The folder of the migrations to apply before; `nil` for those that the tracker brings with it.
    package let migrations: String?
    /// The role to grant what the trackers of `serve` and `load` need; `nil` to grant nothing.
    package let role: String?
    /// Whether to make views in the form of Segment's warehouses.
    package let makesSegmentViews: Bool
    /// Whether to make roles for the owner, the loader and the readers of the tables.
    package let makesRoles: Bool

    package init(
        plan: TrackingPlan,
        migrations: String?,
        role: String?,
        makesSegmentViews: Bool = false,
        makesRoles: Bool = false
    ) {
        self.plan = plan
        self.migrations = migrations
        self.role = role
        self.makesSegmentViews = makesSegmentViews
        self.makesRoles = makesRoles
    }
}

/// Statements that make the changes of a migration.
package struct MigrationStatements: Sendable {
    /// A script for the destination's own client; only a comment if there is nothing to do.
    package let text: String
    /// What the statements would change, in one line.
    package let summary: String

    package init(text: String, summary: String) {
        self.text = text
        self.summary = summary
    }
}

/// A tracker whose destination needs regular maintenance; `sluice maintain` calls it.
package protocol MaintainableTracker: Tracker {
    /// Does what is due for the plan's events.
    ///
    /// If one table cannot be maintained, the others are.
    ///
    /// - Throws: Why nothing could be done.
    func maintain(_ request: MaintenanceRequest) async throws(TrackerError) -> MaintenanceReport

    /// Divides existing tables by time, without copying their rows; a run that was interrupted is completed by the next one.
    ///
    /// - Throws: Why a table was not partitioned; those before it were.
    func partition(_ request: PartitioningRequest) async throws(TrackerError) -> MaintenanceReport
}

/// Which tables to partition.
package struct PartitioningRequest: Sendable {
    /// The plan.
    package let plan: TrackingPlan
    /// The names of the tables; `nil` for all of the plan.
    package let tables: [String]?
    /// The names of triggers, publications and other objects that may follow the old rows alone.
    package let leaving: Set<String>

    package init(plan: TrackingPlan, tables: [String]?, leaving: Set<String>) {
        self.plan = plan
        self.tables = tables
        self.leaving = leaving
    }
}

/// What to maintain.
package struct MaintenanceRequest: Sendable {
    /// The plan; the tables of the events that go to the tracker are maintained.
    package let plan: TrackingPlan
    /// The first day that needs a partition; `nil` for that of the earliest time that an event may have.
    package let since: CalendarDate?
    /// Runs the programs that the tracker's settings name.
    package let programs: any ProgramRunner

    package init(plan: TrackingPlan, since: CalendarDate?, programs: any ProgramRunner) {
        self.plan = plan
        self.since = since
        self.programs = programs
    }
}

/// Runs programs for the maintenance of a tracker, so that trackers need not know how programs are started.
package protocol ProgramRunner: Sendable {
    /// Runs a program to its end, and blocks the thread meanwhile. The program ends when the thread does.
    ///
    /// - Throws: `notPrepared` if the program cannot be started, `timeout` if it took too long and was ended, `failed` with its end
    ///   if that was not exit status 0, and `cancelled` after an interrupt.
    func run(_ run: ProgramRun, _ interrupt: Interrupt) throws(TrackerError)
}

/// A run of a program.
package struct ProgramRun: Sendable {
    /// The program and its arguments; no shell reads them.
    package let command: [String]
    /// Its environment variables, each as `NAME=value`, besides those that every program has.
    package let environment: [String]
    /// The name of the tracker that needs the program.
    package let tracker: String
    /// How long the program may take.
    package let timeout: Duration

    package init(command: [String], environment: [String], tracker: String, timeout: Duration) {
        self.command = command
        self.environment = environment
        self.tracker = tracker
        self.timeout = timeout
    }
}

/// What a maintenance did and could not do.
package struct MaintenanceReport: Sendable {
    /// A line for each change.
    package var changes: [String]
    /// What an operator has to do, with the remedy.
    package var problems: [TrackerError]

    package init(changes: [String] = [], problems: [TrackerError] = []) {
        self.changes = changes
        self.problems = problems
    }
}

/// A tracker that writes to topics of Kafka, so that a loader of such a topic can tell whether it would load its own records.
package protocol TopicTracker: Tracker {
    /// Whether events of the catalog go to this topic of the cluster with these brokers, as `host:port,host:port`.
    ///
    /// Two lists of brokers belong to the same cluster if they share one.
    ///
    /// - Throws: `invalidSettings` if an event's topic has a name that no topic can have.
    func writes(toTopic topic: String, at brokers: String, for catalog: EventCatalog) throws(TrackerError) -> Bool
}

/// A tracker whose destination removes events by itself after some time; `sluice forget` states when.
package protocol RetainingTracker: Tracker {
    /// How long the destination keeps the catalog's events, by place.
    ///
    /// - Throws: Why the destination cannot be asked.
    func retentions(for catalog: EventCatalog) async throws(TrackerError) -> [PlaceRetention]
}

/// How long a place of a destination keeps events.
package struct PlaceRetention: Sendable, Hashable {
    /// The place, such as a topic.
    package let place: String
    /// The longest time from an event's arrival to its removal; `nil` if it is not removed, or if the destination does not say when.
    package let duration: Duration?

    package init(place: String, duration: Duration?) {
        self.place = place
        self.duration = duration
    }
}

/// A tracker whose deliveries may take minutes, so that `sluice load` waits for them.
package protocol TimedTracker: Tracker {
    /// How long one batch may take before a loader that waits for it is stuck.
    var longestLoad: Duration { get }
}

/// A tracker that can write to standard output; a command with such a tracker prints its report elsewhere.
package protocol PrintingTracker: Tracker {
    /// Whether events are written to standard output.
    var writesToStandardOutput: Bool { get }
}
