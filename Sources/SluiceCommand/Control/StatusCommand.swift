import ArgumentParser
import Operations

/// `sluice status`: what a running `serve` does, on one screen.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of a running server: whether it accepts events, its journal, and each tracker.",
        discussion: "Exits with 1 if the process accepts no events, or does not answer."
    )

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup var control: ControlOptions

    func run() async throws {
        let status = try await control.process().status()
        if json {
            try Terminal.print("\(status.jsonLine)")
        } else {
            try Terminal.print(lines: StatusText(status).lines)
        }
        if !status.isReady { throw ExitCode(1) }
    }
}
