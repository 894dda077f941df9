package import TrackerKit

/// What a database lacks to accept the rows of the plan's tables: missing objects and privileges.
package struct SchemaInspection: Sendable {
    /// The errors that prevent every row from being loaded.
    package private(set) var obstacles: [TrackerError] = []
    /// The errors that prevent the rows of one table from being loaded, in the plan's order.
    package private(set) var brokenTables: [TrackerError] = []
    /// The tables, quoted, that accept rows and do not recognize an event that they already have.
    package private(set) var tablesWithoutKey: [String] = []
    /// Everything that the plan wants and the database lacks, which includes keys.
    package private(set) var problems: [TrackerError] = []
    /// The tables that accept rows and do not keep them after a crash of the server.
    package private(set) var tablesEmptiedByCrash: [TrackerError] = []
    private let gap: SchemaGap?
    private let wantedTables: Int

    /// Compares the existing schema with the tables that the plan needs in it.
    package init(
        of present: PresentSchema,
        for wanted: [EventTable],
        under conditions: StorageConditions = StorageConditions()
    ) {
        gap = SchemaGap(in: present, for: wanted, includingKeys: false)
        wantedTables = wanted.count
        guard !wanted.isEmpty else { return }
        obstacles = conditions.standby.map { [$0] } ?? []
        guard present.exists else {
            obstacles += gap.map { [TrackerError($0)] } ?? []
            problems = obstacles
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
        problems = obstacles
        for table in wanted {
            let reason =
                Self.reason(against: table, in: present)
                ?? conditions.reason(against: table.name, sqlName: table.sqlName, role: role)
            if let reason { brokenTables.append(reason) }
            let loss = conditions.loss(of: table.name, sqlName: table.sqlName)
            if let loss { tablesEmptiedByCrash.append(loss) }
            let wholeGap = SchemaGap(in: present, for: [table])
            if wholeGap != nil, reason == nil { tablesWithoutKey.append(table.sqlName) }
            if let problem = wholeGap.map({ TrackerError($0) }) ?? reason { problems.append(problem) }
            if let loss { problems.append(loss) }
        }
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

    /// Why a table accepts no rows; `nil` if it does, even if it has no key by which duplicates are recognized.
    package static func reason(against table: EventTable, in present: PresentSchema) -> TrackerError? {
        if let gap = SchemaGap(in: present, for: [table], includingKeys: false) { return TrackerError(gap) }
        guard let existing = present.tables[table.name] else { return nil }
        let wanted = Set(table.columns.map(\.name))
        let lacksInsert = existing.columns.contains { wanted.contains($0.name) && !$0.privileges.contains("INSERT") }
        let key = existing.eventKey
        let lacksSelect = existing.columns.contains { key.contains($0.name) && !$0.privileges.contains("SELECT") }
        guard lacksInsert || lacksSelect else { return nil }
        let role = SQLText.identifier(present.role ?? "")
        let readable = (key.isEmpty ? ["id"] : key).map(SQLText.identifier).joined(separator: ", ")
        return .missingPrivilege(
            "The role \(role) may not \(lacksInsert ? "insert into" : "read \(readable) of") the table \(table.sqlName)",
            grant: "INSERT, SELECT (\(readable)) ON \(table.sqlName) TO \(role)"
        )
    }

    /// Why no checkpoint can be stored; `nil` if one can.
    static func reason(against checkpoints: CheckpointTable, in present: PresentSchema) -> TrackerError? {
        let table = checkpoints.sqlName
        guard let columns = present.tables[CheckpointTable.name]?.columns else { return .missing(table: table) }
        guard Set(columns.map(\.name)).isSuperset(of: CheckpointTable.columns) else { return .outdated(table: table) }
        let privileges = columns.filter { CheckpointTable.columns.contains($0.name) }.map(\.privileges)
        guard privileges.contains(where: { $0.count < 3 }) else { return nil }
        return .missingPrivilege(on: checkpoints, role: SQLText.identifier(present.role ?? ""))
    }
}

extension TrackerError {
    /// A privilege that the role lacks, and the statement that grants it.
    static func missingPrivilege(_ sentence: String, grant: String) -> TrackerError {
        TrackerError(code: .misconfigured, message: "\(sentence); run: GRANT \(grant);", isRetryable: false)
    }

    /// The role, given as a quoted identifier, lacks the privileges to store checkpoints.
    static func missingPrivilege(on checkpoints: CheckpointTable, role: String) -> TrackerError {
        missingPrivilege(
            "The role \(role) may not store checkpoints",
            grant: "SELECT, INSERT, UPDATE ON \(checkpoints.sqlName) TO \(role)"
        )
    }

    /// One of Sluice's own tables is missing.
    static func missing(table: String) -> TrackerError {
        TrackerError(
            code: .notPrepared,
            message: "The database lacks the table \(table); run `sluice migrate`.",
            isRetryable: false
        )
    }

    /// One of Sluice's own tables was created by an earlier version.
    static func outdated(table: String) -> TrackerError {
        TrackerError(
            code: .notPrepared,
            message: "The table \(table) lacks a column; run `sluice migrate`.",
            isRetryable: false
        )
    }

    /// The database lacks what the plan needs.
    fileprivate init(_ gap: SchemaGap) {
        self.init(code: .notPrepared, message: gap.message, isRetryable: false)
    }
}
