package import TrackerKit

extension PostgresTracker: MigratableTracker {
    package func migrate(_ request: MigrationRequest) async throws(TrackerError) -> [String] {
        let migrations = try Migration.ofFolderOrBuiltIn(request.migrations)
        let report = try await PostgresMigrator(configuration).migrate(
            request.plan,
            applying: migrations,
            grantingTo: request.role
        )
        return report.migrations.map { "applied \($0)" } + report.createdTables.map { "created \($0)" }
            + report.extendedTables.map { "extended \($0)" }
            + (report.grantedRole.map { ["granted '\($0)' what serve and load need"] } ?? [])
    }

    package func migrationStatements(_ request: MigrationRequest) async throws(TrackerError) -> MigrationStatements {
        let migrations = try Migration.ofFolderOrBuiltIn(request.migrations)
        let script = try await PostgresMigrator(configuration).script(
            for: request.plan,
            applying: migrations,
            grantingTo: request.role
        )
        return MigrationStatements(text: script.text, summary: script.summary)
    }
}
