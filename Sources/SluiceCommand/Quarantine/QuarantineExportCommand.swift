import ArgumentParser
import SluiceReplay

/// `sluice quarantine export`: prints the records of the quarantine as NDJSON.
struct QuarantineExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print quarantined events with their verdicts as NDJSON, which `sluice replay` reads."
    )

    @OptionGroup var location: QuarantineLocation
    @OptionGroup var selection: QuarantineSelection

    func run() async throws {
        try await location.store().forEachReadable(try selection.filter()) { record in
            try Terminal.write(record.line + [UInt8(ascii: "\n")])
        }
    }
}
