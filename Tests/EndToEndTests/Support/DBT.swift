import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// The dbt that `make setup-test` installs.
enum DBT {
    /// Runs a command of dbt in a project's folder, with a database as its profile.
    static func run(
        _ arguments: [String],
        in project: String,
        of folder: TestFolder,
        on database: TestDatabase
    ) async throws -> Finished {
        let program = RepositoryFile.url(".run/dbt/bin/dbt")
        try #require(
            FileManager.default.isExecutableFile(atPath: program.path),
            "dbt is not installed: run `make setup-test`"
        )
        let path = folder.path(project)
        let process = try SluiceProcess(
            ["--no-use-colors"] + arguments + ["--project-dir", path, "--profiles-dir", path],
            executable: program,
            in: folder,
            environment: [
                "PGHOST": "127.0.0.1", "PGPORT": String(database.server.port), "PGUSER": "postgres",
                "PGDATABASE": database.name, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
            ]
        )
        let ending = try await process.waitForEnd()
        return Finished(ending: ending, output: process.output?.lines ?? [], errors: process.errors.lines)
    }
}
