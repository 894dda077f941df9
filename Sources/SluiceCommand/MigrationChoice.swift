import ArgumentParser
import SluicePostgres

/// The migrations that the commands are about: Sluice's own, unless a folder is named.
struct MigrationChoice: ParsableArguments {
    @Option(help: ArgumentHelp("A folder of migrations; else Sluice's own.", valueName: "dir"), completion: .directory)
    var migrations: String?

    func validate() throws {
        // An unset variable of a script must not make it other migrations.
        if migrations?.isEmpty == true { throw ValidationError("--migrations is empty.") }
    }

    /// The migrations in their order; what is wrong with them is printed, and ends the command with 1.
    func read() throws -> [Migration] {
        guard let migrations else { return Migration.builtIn }
        do {
            return try Migration.read(folder: migrations)
        } catch {
            throw Terminal.failure("\(error)")
        }
    }
}
