import ArgumentParser
import EventJournal

/// `sluice quarantine export`: rejected events as NDJSON.
struct QuarantineExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print rejected events with their verdicts as NDJSON, which `sluice replay` reads."
    )

    @OptionGroup var location: QuarantineLocation
    @OptionGroup var selection: QuarantineSelection

    func run() async throws {
        let folder = try await location.folder()
        try QuarantineCommand.forEach(in: folder, try selection.filter()) { record in
            try Terminal.write(record.line + [UInt8(ascii: "\n")])
        }
    }
}
