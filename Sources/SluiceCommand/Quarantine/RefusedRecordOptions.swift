import ArgumentParser
import Logging
import SluiceReplay
import SluiceSettings
import TrackerKit

/// The options that select refused records.
struct RefusedRecordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Use the records that `sluice load` could not load into this tracker, and that its destination keeps, as PostgreSQL \
            does, instead of the quarantine's folder.
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
    /// - Throws: `ValidationError` if no such tracker is configured.
    func records(in trackers: [ConfiguredTracker], logger: Logger) throws -> RefusedRecords? {
        guard let from else { return nil }
        let context = TrackerContext(logger: logger)
        let keeping = trackers.compactMap { $0.tracker(in: context) as? any PartitionTracker }
        guard let tracker = keeping.first(where: { $0.name.lowercased() == from.lowercased() }) else {
            let known = keeping.isEmpty ? "none" : keeping.map(\.name).joined(separator: ", ")
            throw ValidationError("No tracker '\(from)' that keeps refused records is configured; there are: \(known).")
        }
        return RefusedRecords(of: tracker, loader: loader)
    }
}
