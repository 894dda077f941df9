package import TrackerKit

/// What a database lacks to accept the rows of the plan's tables: missing objects and privileges.
package struct SchemaInspection: Sendable {
    /// The errors that prevent every row from being loaded.
    package private(set) var obstacles: [TrackerError] = []
    /// The errors that prevent the rows of one table from being loaded, in the plan's order.
    package private(set) var brokenTables: [TrackerError] = []
    private let gap: SchemaGap?
    private let wantedTables: Int

    /// Compares the existing schema with the tables that the plan needs in it.
    package init(of present: PresentSchema, for wanted: [EventTable]) {
        gap = SchemaGap(in: present, for: wanted)
        wantedTables = wanted.count
        guard !wanted.isEmpty else { return }
        guard present.exists else {
            obstacles = gap.map { [TrackerError($0)] } ?? []
            return
        }
        let role = SQLText.identifier(present.role ?? "")
        if !present.isUsable {
            let schema = SQLText.identifier(present.name)
            obstacles.append(
                .missingPrivilege(
                    "The role \(role) may not use the schema \(schema)",
                    grant: "USAGE ON SCHEMA \(schema) TO \(role)"
                )
            )
        }
        if let database = present.databaseWithoutTemporaryTables {
            let database = SQLText.identifier(database)
            obstacles.append(
                .missingPrivilege(
                    "The role \(role) may not make temporary tables, through which duplicates are found",
                    grant: "TEMPORARY ON DATABASE \(database) TO \(role)"
                )
            )
        }
        brokenTables = wanted.compactMap { Self.reason(against: $0, in: present) }
    }

    /// Why nothing can be delivered; `nil` if at least one table accepts rows.
    package var reasonAgainstAll: TrackerError? {
        if let obstacle = obstacles.first { return obstacle }
        return brokenTables.count == wantedTables ? reasonAgainstSome : nil
    }

    /// Why not everything can be delivered; `nil` if every table accepts rows.
    package var reasonAgainstSome: TrackerError? {
        if let obstacle = obstacles.first { return obstacle }
        return brokenTables.isEmpty ? nil : gap.map { TrackerError($0) } ?? brokenTables.first
    }

    /// Why a table accepts no rows; `nil` if it does.
    package static func reason(against table: EventTable, in present: PresentSchema) -> TrackerError? {
        if let gap = SchemaGap(in: present, for: [table]) { return TrackerError(gap) }
        guard let existing = present.tables[table.name] else { return nil }
        let wanted = Set(table.columns.map(\.name))
        let lacksInsert = existing.columns.contains { wanted.contains($0.name) && !$0.privileges.contains("INSERT") }
        let lacksSelect = existing.columns.contains { $0.name == "id" && !$0.privileges.contains("SELECT") }
        guard lacksInsert || lacksSelect else { return nil }
        let role = SQLText.identifier(present.role ?? "")
        return .missingPrivilege(
            "The role \(role) may not \(lacksInsert ? "insert into" : "read \"id\" of") the table \(table.sqlName)",
            grant: "INSERT, SELECT (\"id\") ON \(table.sqlName) TO \(role)"
        )
    }

    /// Why no checkpoint can be stored; `nil` if one can.
    static func reason(against checkpoints: CheckpointTable, in present: PresentSchema) -> TrackerError? {
        guard let columns = present.tables[CheckpointTable.name]?.columns else { return .missing(checkpoints) }
        guard Set(columns.map(\.name)).isSuperset(of: CheckpointTable.columns) else { return .outdated(checkpoints) }
        let privileges = columns.filter { CheckpointTable.columns.contains($0.name) }.map(\.privileges)
        guard privileges.contains(where: { $0.count < 3 }) else { return nil }
        return .missingPrivilege(on: checkpoints, role: SQLText.identifier(present.role ?? ""))
    }
}

extension TrackerError {
    /// A privilege that the role lacks, and the statement that grants it.
    fileprivate static func missingPrivilege(_ sentence: String, grant: String) -> TrackerError {
        TrackerError(code: .misconfigured, message: "\(sentence); run: GRANT \(grant);", isRetryable: false)
    }

    /// The role, given as a quoted identifier, lacks the privileges to store checkpoints.
    static func missingPrivilege(on checkpoints: CheckpointTable, role: String) -> TrackerError {
        missingPrivilege(
            "The role \(role) may not store checkpoints",
            grant: "SELECT, INSERT, UPDATE ON \(checkpoints.sqlName) TO \(role)"
        )
    }

    /// The table for checkpoints is missing.
    static func missing(_ checkpoints: CheckpointTable) -> TrackerError {
        TrackerError(
            code: .notPrepared,
            message: "The database lacks the table \(checkpoints.sqlName); run `sluice migrate`.",
            isRetryable: false
        )
    }

    /// The table for checkpoints was created by an earlier version.
    static func outdated(_ checkpoints: CheckpointTable) -> TrackerError {
        TrackerError(
            code: .notPrepared,
            message: "The table \(checkpoints.sqlName) lacks a column; run `sluice migrate`.",
            isRetryable: false
        )
    }

    /// The database lacks what the plan needs.
    fileprivate init(_ gap: SchemaGap) {
        self.init(code: .notPrepared, message: gap.message, isRetryable: false)
    }
}
