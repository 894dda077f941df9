import ArgumentParser
import EventSchema
import PlanReading
import PlanTools

/// `sluice diff`: what is different between two tracking plans, and for whom that is how bad.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two tracking plans, and say which changes break whom.",
        discussion: """
            A plan is a folder or a file, a revision of git (main, v1.2, HEAD~3: the events folder as it was then), \
            or REV:PATH, where PATH begins at the repository's root, or with ./ here. What exists as a file or folder \
            is taken for that.

            Each change is compatible, risky or breaking: for callers of the generated Swift, for senders over HTTP, \
            for the tables and their queries, and for readers of Kafka's messages. API-stability.md has the table.

            Exits with 0 when nothing is breaking, or when that is allowed; 1 when something is; 2 when a plan cannot \
            be read or has errors; 64 when it was called wrongly.
            """
    )

    @Argument(help: ArgumentHelp("The plan as it was: a folder, REV or REV:PATH."), completion: .directory)
    var old: String

    @Argument(
        help: ArgumentHelp("The plan as it is: a folder, REV or REV:PATH; else the events folder."),
        completion: .directory
    )
    var new: String?

    @Option(help: "How the changes are printed.")
    var format: DiffFormat = .text

    @Flag(help: "Exit with 0 also when a change is breaking.")
    var allowBreaking = false

    @Option(help: ArgumentHelp("Whom a change may break; can be repeated.", valueName: "audience"))
    var allow: [Audience] = []

    @OptionGroup var plan: PlanFolder

    func run() async throws {
        let folder = try await plan.path()
        let before = try Self.plan(PlanPlace(old, folder: folder))
        let after = try Self.plan(new.map { PlanPlace($0, folder: folder) } ?? .disk(folder))
        let diff = PlanDiff(from: before, to: after)
        switch format {
        case .text:
            try Terminal.print(lines: diff.textLines)
            Terminal.printError("\(diff.summary)")
        case .markdown:
            try Terminal.print(TerminalText(escapingLinesOf: DiffMarkdown(diff).text))
        case .json:
            try Terminal.print(try JSONText.of(DiffReport(diff)))
        }
        if diff.changes.contains(where: { !isAllowed($0) }) { throw ExitCode(1) }
    }

    private func isAllowed(_ change: PlanChange) -> Bool {
        allowBreaking
            || Audience.allCases.allSatisfy {
                change.impacts[$0].compatibility != .breaking || allow.contains($0)
            }
    }

    /// Reads a plan; what keeps it from being compared is printed and ends the command with 2.
    private static func plan(_ place: PlanPlace) throws -> TrackingPlan {
        do throws(GitError) {
            let reading = try place.read()
            if let plan = reading.plan { return plan }
            for diagnostic in reading.diagnostics { Terminal.printError("\(diagnostic)") }
        } catch {
            Terminal.printError("error: \(error)")
        }
        throw ExitCode(2)
    }
}

/// How `sluice diff` prints what it found.
enum DiffFormat: String, CaseIterable, ExpressibleByArgument {
    case text, markdown, json
}
