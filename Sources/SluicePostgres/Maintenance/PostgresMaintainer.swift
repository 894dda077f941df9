package import EventModel
package import EventSchema
package import TrackerKit

/// Maintains the tables of a database that are partitioned by time: makes the months or days to come, and keeps the server's
/// statistics.
///
/// It can be repeated, and a run waits until another of the same schema has ended. It needs the role that owns the tables.
package struct PostgresMaintainer: Sendable {
    private let configuration: PostgresConfiguration

    /// Creates a maintainer for a database.
    package init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Maintains the partitioned tables of the events that the plan sends to the tracker.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - since: The first day that needs a partition; `nil` for that of the earliest time that an event may have.
    ///   - now: The present time.
    ///   - programs: Runs the program that archives partitions, if there is one.
    /// - Returns: What was done, and what an operator has to do.
    /// - Throws: `failed` if another run of the schema does not end; `unavailable` or `timeout` if the server cannot be reached.
    package func maintain(
        _ plan: TrackingPlan,
        since: CalendarDate? = nil,
        now: Timestamp = .now(),
        programs: any ProgramRunner
    ) async throws(TrackerError) -> MaintenanceReport {
        try await PostgresMigrator(configuration).withRun(for: plan) { base, tables throws(PostgresFailure) in
            try MigrationRun.settle { () throws in
                var run = MaintenanceRun(base: base, configuration: configuration, since: since, now: now)
                try run.maintain(tables, archivingWith: programs)
                return run.report
            }
        }
    }
}

extension PostgresMaintainer {
    /// Partitions tables of the events that the plan sends to the tracker, and maintains them.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - names: The names of the tables; `nil` for all.
    ///   - leaving: The names of triggers and other objects that may follow the old rows.
    ///   - now: The present time.
    /// - Returns: What was done, and what an operator has to do.
    /// - Throws: `failed` if a table has such an object that is not named, or rows in the far future; the tables before it are
    ///   partitioned then.
    package func partition(
        _ plan: TrackingPlan,
        tables names: [String]?,
        leaving: Set<String> = [],
        now: Timestamp = .now()
    ) async throws(TrackerError) -> MaintenanceReport {
        try await PostgresMigrator(configuration).withRun(for: plan) { base, tables throws(PostgresFailure) in
            try MigrationRun.settle { () throws in
                let unknown = Set(names ?? []).subtracting(tables.map(\.name)).sorted()
                guard unknown.isEmpty else {
                    throw TrackerError(
                        code: .failed,
                        message: "The plan has no table \(unknown.joined(separator: ", ")).",
                        isRetryable: false
                    )
                }
                let wanted = tables.filter { names?.contains($0.name) ?? true }
                var run = MaintenanceRun(base: base, configuration: configuration, since: nil, now: now)
                try run.partition(wanted, leaving: leaving)
                return run.report
            }
        }
    }
}

extension PostgresTracker: MaintainableTracker {
    package func partition(_ request: PartitioningRequest) async throws(TrackerError) -> MaintenanceReport {
        try await PostgresMaintainer(configuration).partition(
            request.plan,
            tables: request.tables,
            leaving: request.leaving
        )
    }

    package func maintain(_ request: MaintenanceRequest) async throws(TrackerError) -> MaintenanceReport {
        try await PostgresMaintainer(configuration).maintain(
            request.plan,
            since: request.since,
            programs: request.programs
        )
    }
}
