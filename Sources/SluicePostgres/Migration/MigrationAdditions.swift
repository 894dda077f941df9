import EventModel
import TrackerKit

/// What a migration makes besides the tables.
struct MigrationAdditions: Sendable {
    /// The role to grant what `serve` and `load` need; `nil` to grant nothing.
    var grantee: String?
    /// The views to make; `nil` for none.
    var segmentViews: SegmentViews?
    /// Whether to make the roles of `DatabaseRoles`.
    var makesRoles = false
}

/// A step of a migration that follows the tables.
struct AdditionalStep: Sendable, Hashable {
    /// What it does, for a comment.
    let title: String
    /// What it does, for a summary; `nil` if another step says it.
    let summary: String?
    let statements: [String]
    /// Whether the statements run in one transaction; otherwise, there is one statement, which commits itself.
    var isTransaction = true

    /// The SQL without its last semicolon.
    var sql: String {
        isTransaction ? MigrationSteps.transaction(of: statements) : statements.joined(separator: ";\n")
    }

    /// The SQL with a comment, for a script.
    var block: String { "-- \(title)\n\(sql);" }
}

extension MigrationRun {
    /// The steps of the additions in the database's present state; `exists` is true for tables of Sluice that a pending migration
    /// may create.
    func steps(
        of additions: MigrationAdditions,
        _ tables: [EventTable],
        or exists: (String) -> Bool
    ) throws -> [AdditionalStep] {
        var steps: [AdditionalStep] = []
        var views = try presentViews().ownNames
        if let wanted = additions.segmentViews {
            let changes = try changes(of: wanted)
            views = Set(views).union(changes.map(\.view)).sorted()
            let summary = "\(changes.count.of("view")) to make or extend"
            for (index, change) in changes.enumerated() {
                steps.append(
                    AdditionalStep(
                        title: "makes the view \(SegmentViews.schema).\(change.view)",
                        summary: index == 0 ? summary : nil,
                        statements: change.statements
                    )
                )
            }
        }
        if let role = additions.grantee {
            steps.append(
                AdditionalStep(
                    title: "grants the role what it needs",
                    summary: "privileges to grant",
                    statements: try grants(to: role, tables, or: exists)
                )
            )
        }
        if additions.makesRoles { steps += try stepsOfRoles(tables, views: views, or: exists) }
        return steps
    }

    private func stepsOfRoles(
        _ tables: [EventTable],
        views: [String],
        or exists: (String) -> Bool
    ) throws -> [AdditionalStep] {
        let roles = try roles()
        let present = try connection.presentSchema(named: schema, limit)
        return [
            AdditionalStep(
                title: "makes the roles",
                summary: "roles to make",
                statements: [roles.creation(hasViews: !views.isEmpty)]
            ),
            AdditionalStep(
                title: "gives the owner what is in the schemas",
                summary: nil,
                statements: [roles.ownership],
                isTransaction: false
            ),
            AdditionalStep(
                title: "grants the loader and the reader what they need",
                summary: nil,
                statements: roles.grants(for: tables, in: present, views: views) {
                    present.tables[$0] != nil || exists($0)
                }
            ),
        ]
    }

    // MARK: Views

    /// Makes or extends the views.
    func make(_ views: SegmentViews, _ report: inout MigrationReport) throws {
        for change in try changes(of: views) {
            let name = "\(SegmentViews.schema).\(change.view)"
            try step("The view \(name) was not made") { () throws(PostgresFailure) in
                try connection.execute(MigrationSteps.transaction(of: change.statements), limit)
            }
            report.segmentViews.append(change.view)
        }
    }

    private func changes(of views: SegmentViews) throws -> [SegmentViews.Change] {
        let present = try connection.presentSchema(named: schema, limit)
        do {
            return try views.changes(in: present, from: try presentViews())
        } catch let foreign as PresentViews.Foreign {
            throw TrackerError(code: .failed, message: foreign.message, isRetryable: false)
        }
    }

    private func presentViews() throws(PostgresFailure) -> PresentViews {
        let rows = try connection.rows(
            of: PresentViews.query,
            parameters: [SegmentViews.schema, "{\(SegmentViews.names.joined(separator: ","))}"],
            limit
        )
        return PresentViews(schema: SegmentViews.schema, rows: rows)
    }

    // MARK: Roles

    /// Makes the roles, and gives them what they need.
    func makeRoles(_ tables: [EventTable], _ report: inout MigrationReport) throws {
        for addition in try steps(of: MigrationAdditions(makesRoles: true), tables, or: { _ in false }) {
            try step("The step '\(addition.title)' failed") { () throws(PostgresFailure) in
                try connection.execute(addition.sql, limit)
            }
        }
        let roles = try roles()
        report.roles = [roles.owner, roles.loader, roles.reader]
    }

    private func roles() throws -> DatabaseRoles {
        guard schema.utf8.count <= DatabaseRoles.maximumBytesOfSchema else {
            throw TrackerError(
                code: .failed,
                message: """
                    The name of the schema is too long for the names of roles; it has at most \
                    \(DatabaseRoles.maximumBytesOfSchema) bytes. Use --grant-to with a role of your own.
                    """,
                isRetryable: false
            )
        }
        let database = try connection.lastRows(of: "SELECT current_database()", limit).first?.first ?? nil
        return DatabaseRoles(schema: schema, database: database ?? "", keyOfNewTable: keyOfNewTable)
    }
}
