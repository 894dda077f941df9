import ArgumentParser
import SluiceReplay

/// `sluice quarantine show`: shows one record of the quarantine.
struct QuarantineShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one quarantined event: its verdict, and the event byte for byte as it was sent."
    )

    @Argument(help: ArgumentHelp("The event's id in the output of `sluice quarantine list`.", valueName: "id"))
    var id: String

    @OptionGroup var location: QuarantineLocation

    @Flag(help: "Print only the event's bytes.")
    var original = false

    func run() async throws {
        var found: QuarantineRecord?
        try await location.store().forEachReadable(QuarantineFilter()) { record in
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
