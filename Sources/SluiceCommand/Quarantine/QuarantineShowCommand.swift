import ArgumentParser
import EventJournal
import Foundation

/// `sluice quarantine show`: one rejected event, whole.
struct QuarantineShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one rejected event: the verdict, and the event byte for byte as it was sent."
    )

    @Argument(help: ArgumentHelp("As `sluice quarantine list` prints it.", valueName: "id"))
    var id: String

    @OptionGroup var location: QuarantineLocation

    @Flag(help: "Print the event's bytes only.")
    var original = false

    func run() async throws {
        var found: QuarantineRecord?
        try QuarantineCommand.forEach(in: try await location.folder(), QuarantineFilter()) { record in
            if record.id == id { found = record }
        }
        guard let found else {
            throw Terminal.failure("There is no '\(id)' in the quarantine.")
        }
        var output = found.original
        if !original {
            output = Array("\(try JSONText.of(found.verdict))\n\n".utf8) + output + [UInt8(ascii: "\n")]
        }
        try Terminal.write(output)
    }
}
