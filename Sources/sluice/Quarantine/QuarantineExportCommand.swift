import ArgumentParser
import Journal
import SystemPackage

/// `sluice quarantine export`: rejected events as NDJSON.
struct QuarantineExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print rejected events with their verdicts as NDJSON, which `sluice replay` reads."
    )

    @OptionGroup var location: QuarantineLocation
    @OptionGroup var selection: QuarantineSelection

    func run() async throws {
        // Like any other command, it ends when nobody reads what it prints.
        Terminal.ignoresBrokenPipes(false)
        let folder = try await location.folder()
        try QuarantineCommand.forEach(in: folder, try selection.filter()) { record in
            _ = try FileDescriptor.standardOutput.writeAll(record.line + [UInt8(ascii: "\n")])
        }
    }
}
