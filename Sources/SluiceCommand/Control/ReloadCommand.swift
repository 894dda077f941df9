import ArgumentParser
import Operations

/// `sluice reload`: reloads the tracking plan of a running `serve`.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the tracking plan of a running server.",
        discussion: """
            The server reloads changed files automatically within a few seconds; this command reloads them at once and reports the \
            result. The new plan replaces the old one between two batches. A plan with problems changes nothing: the problems are \
            printed, and the command exits with 1.
            """
    )

    @OptionGroup var control: ControlOptions

    func run() async throws {
        let reload = try await control.process().reloadPlan()
        try Terminal.print(lines: reload.lines.map { TerminalText(escaping: $0) })
        Terminal.printError(
            reload.outcome == .replaced ? "The plan was replaced." : "The plan is the same as the one in use."
        )
    }
}
