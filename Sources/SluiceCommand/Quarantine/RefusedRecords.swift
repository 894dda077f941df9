import ArgumentParser
import Logging
import SluicePostgres
import SluiceSettings
import TrackerKit

/// The records that loaders could not load into a PostgreSQL tracker, in that tracker's database.
///
/// A record that was sent again is removed.
struct RefusedRecords: QuarantineStore {
    /// Reads and removes the records, in a session of its own.
    private let tracker: PostgresTracker
    private let loader: String?
    private let delivered = DeliveredEvents()

    /// - Parameter loader: The loader that refused them; `nil` for all.
    init(of tracker: PostgresTracker, loader: String?) {
        self.tracker = tracker
        self.loader = loader
    }

    /// The name of the tracker.
    var trackerName: String { tracker.name }

    func forEach(_ filter: QuarantineFilter, _ body: (QuarantineRecord) throws -> Void) async throws {
        var scan = RefusedScan(tracker, loader: loader, filter)
        do {
            while let entry = try await scan.next() { try body(entry.record) }
        } catch let error as TrackerError {
            throw Terminal.failure("\(error)")
        }
        await close()
        try Terminal.report(scan.findings)
    }

    func sentKeys() -> Set<String> { [] }

    func source(_ selection: ReplaySelection, stop: Interrupt) -> any ReplaySource {
        let scan = RefusedScan(tracker, loader: loader, selection.quarantineFilter)
        return RefusedSource(scan, catalog: selection.catalog, tracker: tracker.name, stop: stop)
    }

    func sentRecordLog() -> any SentRecordLog { RefusedSentRecordLog(tracker, delivered) }

    /// The tracker to deliver to; what it delivers is noted, and its records are removed.
    func noting(_ tracker: any Tracker) -> any Tracker { NotingTracker(tracker, delivered) }

    func close() async { await tracker.stop() }
}

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
