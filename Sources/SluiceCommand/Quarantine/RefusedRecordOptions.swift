import ArgumentParser
import Logging
import SluicePostgres
import SluiceReplay
import SluiceSettings

/// The options that select refused records.
struct RefusedRecordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Use the records that `sluice load` could not load into this PostgreSQL tracker, and that its database keeps, instead \
            of the quarantine's folder.
            """,
            valueName: "tracker"
        )
    )
    var from: String?

    @Option(help: ArgumentHelp("Only records that this loader refused. Default: all loaders.", valueName: "name"))
    var loader: String?

    func validate() throws {
        if loader != nil, from == nil {
            throw ValidationError("--loader selects refused records, so it needs --from.")
        }
    }

    /// The records; `nil` without `--from`.
    ///
    /// - Throws: `ValidationError` if no such PostgreSQL tracker is configured.
    func records(in trackers: [ConfiguredTracker], logger: Logger) throws -> RefusedRecords? {
        guard let from else { return nil }
        let databases = trackers.compactMap { $0.configuration(of: PostgresTracker.self) }
        guard let database = databases.first(where: { $0.name.lowercased() == from.lowercased() }) else {
            let known = databases.isEmpty ? "none" : databases.map(\.name).joined(separator: ", ")
            throw ValidationError("No PostgreSQL tracker '\(from)' is configured; there are: \(known).")
        }
        return RefusedRecords(of: PostgresTracker(database, logger: logger), loader: loader)
    }
}
