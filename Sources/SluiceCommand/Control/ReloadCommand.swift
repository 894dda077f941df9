import ArgumentParser
import Operations

/// `sluice reload`: lets a running `serve` read its tracking plan again.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Let a running serve read its tracking plan again.",
        discussion: """
            It reads changed files by itself within a few seconds; this command says what became of them. The new plan replaces the \
            old one between two batches. A plan with problems changes nothing: they are printed, and the command exits with 1.
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
