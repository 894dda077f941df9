import ArgumentParser
import EventModel
import Logging
import SettingDefinitions
import SluicePostgres
import SluiceReplay
import SluiceSettings

/// `sluice quarantine`: shows rejected and refused events.
struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract:
            "Show the events in the quarantine (the dead-letter queue); `sluice replay quarantine` sends them again.",
        discussion: """
            With --from TRACKER, the records are those that `sluice load` could not load into that tracker. Their ids are \
            topic/partition-offset.
            """,
        subcommands: [
            QuarantineListCommand.self, QuarantineShowCommand.self, QuarantineStatsCommand.self,
            QuarantineExportCommand.self,
        ]
    )
}

/// The quarantine that a subcommand reads.
struct QuarantineLocation: ParsableArguments {
    @Option(help: .setting(.quarantineFolder, valueName: "dir"), completion: .directory)
    var quarantine: String?

    @OptionGroup var refused: RefusedRecordOptions

    @Option(help: .setting(.postgresURL, valueName: "url"))
    var postgres: String?

    @Option(help: .setting(.postgresURLFile, valueName: "file"), completion: .file())
    var postgresFile: String?

    @Option(help: .setting(.postgresSchema))
    var schema: String?

    @OptionGroup var config: ConfigurationFile

    func validate() throws {
        if refused.from != nil, quarantine != nil {
            throw ValidationError("--quarantine names a folder, and --from a database; use one of the two.")
        }
        let isOwn = refused.from?.lowercased() == PostgresConfiguration.defaultName
        if !isOwn, (postgres ?? postgresFile ?? schema) != nil {
            throw ValidationError(
                "--postgres, --postgres-file and --schema are settings of the tracker 'postgres'; use them with --from postgres."
            )
        }
    }

    /// The folder or the database that the options, the environment or the configuration file name, or the default folder.
    func store() throws -> any QuarantineStore {
        var stated = CommandLineSettings()
        stated.set(.quarantineFolder, quarantine)
        stated.set(.postgresURL, postgres)
        stated.set(.postgresURLFile, postgresFile)
        stated.set(.postgresSchema, schema)
        let reader = try SettingsReader(options: stated, file: config.path)
        let folder = reader.text(.quarantineFolder) ?? ProcessSettings.defaults.quarantineFolder
        // What is wrong with other trackers does not matter for a folder.
        let trackers = refused.from == nil ? [] : reader.trackers()
        try reader.finish()
        return try refused.records(in: trackers, logger: Self.silent) ?? FolderQuarantine(path: folder)
    }

    private static let silent = Logger(label: "sluice", factory: { _ in SwiftLogNoOpLogHandler() })
}

/// The records that a subcommand reads.
struct QuarantineSelection: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Of quarantined events, only those whose verdict has this code; can be repeated. Default: all.",
            valueName: "code"
        )
    )
    var code: [String] = []

    @Option(help: ArgumentHelp("Only events with this name; can be repeated. Default: all.", valueName: "name"))
    var event: [String] = []

    @Option(help: ArgumentHelp("Only events quarantined at or after this time (RFC 3339).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events quarantined before this time (RFC 3339).", valueName: "time"))
    var until: String?

    func validate() throws { _ = try filter() }

    func filter() throws -> QuarantineFilter {
        try .options(codes: code, events: event, since: since, until: until)
    }
}

extension QuarantineFilter {
    /// The filter that the values of `--code`, `--event`, `--since` and `--until` state.
    ///
    /// - Throws: `ValidationError` for an unknown code, which could never match, and for an invalid time.
    static func options(codes: [String], events: [String], since: String?, until: String?) throws -> QuarantineFilter {
        var filter = QuarantineFilter()
        do throws(SelectionError) {
            filter = try QuarantineFilter(codes: codes, events: events)
        } catch {
            throw ValidationError(error.message)
        }
        filter.since = try Timestamp(option: "--since", since)
        filter.until = try Timestamp(option: "--until", until)
        return filter
    }
}

extension QuarantineStore {
    /// Calls `body` with each record that the filter selects, and prints what could not be read after the last one.
    ///
    /// - Throws: Exit status 1, with the reason printed, if anything could not be read.
    func forEachReadable(_ filter: QuarantineFilter, _ body: (QuarantineRecord) throws -> Void) async throws {
        let findings: [String]
        do {
            findings = try await forEach(filter, body)
        } catch {
            throw Terminal.reported(error)
        }
        for finding in findings { Terminal.printError("error: \(finding)") }
        if !findings.isEmpty { throw ExitCode(1) }
    }
}
