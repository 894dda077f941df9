import ArgumentParser
import SettingDefinitions
import SluiceSettings

/// Whether `serve` keeps a journal, and where; `check` takes the same options.
struct JournalOptions: ParsableArguments, SettingOptions {
    @Option(help: .setting(.journalFolder, valueName: "dir"), completion: .directory)
    var journal: String?

    @Flag(
        name: .customLong("no-journal"),
        help: """
            Keep accepted events in memory only. Events that were not delivered are lost if the process is killed.
            """
    )
    var hasNoJournal = false

    func validate() throws {
        if hasNoJournal, journal != nil { throw ValidationError("--journal and --no-journal exclude each other.") }
    }

    func add(to settings: inout CommandLineSettings) {
        settings.set(.journalFolder, journal)
        settings.set(.journalEnabled, hasNoJournal ? false : journal.map { _ in true })
    }
}
