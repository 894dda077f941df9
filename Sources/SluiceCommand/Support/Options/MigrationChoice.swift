import ArgumentParser
import SluicePostgres

/// The option `--migrations`.
struct MigrationChoice: ParsableArguments {
    @Option(
        help: ArgumentHelp("A folder of migrations to apply instead of Sluice's own.", valueName: "dir"),
        completion: .directory
    )
    var migrations: String?

    func validate() throws {
        // An unset variable in a script must not select Sluice's own migrations.
        if migrations?.isEmpty == true { throw ValidationError("--migrations is empty.") }
    }

    /// Reads the migrations in their order; prints what is wrong with them, and throws exit status 1.
    func read() throws -> [Migration] {
        do {
            return try Migration.ofFolderOrBuiltIn(migrations)
        } catch {
            throw Terminal.failure("\(error)")
        }
    }
}
