import ArgumentParser
import EventSchema
import PlanReading
import PlanTools

/// `sluice diff`: compares two tracking plans, and judges each change for each audience.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare two tracking plans, and report whom each change breaks.",
        discussion: """
            A plan is a folder, a file, a Git revision, or REV:PATH. A revision (main, v1.2, HEAD~3) stands for the events \
            folder at that revision. PATH is relative to the repository's root, or with ./ to the current folder. The name \
            of an existing file or folder takes precedence.

            Each change is compatible, risky or breaking for each audience: callers of the generated Swift, senders over \
            HTTP, the tables and their queries, and readers of Kafka's messages. Documentation/Build/PlanChanges.md \
            has the table.

            Exits with 0 if no change is breaking or all breaking changes are allowed, 1 if there are others, 2 if a plan \
            cannot be read or has errors, and 64 for wrong usage.
            """
    )

    @Argument(help: ArgumentHelp("The old plan: a folder, a file, REV or REV:PATH."), completion: .directory)
    var old: String

    @Argument(
        help: ArgumentHelp("The new plan: a folder, a file, REV or REV:PATH. Default: the events folder."),
        completion: .directory
    )
    var new: String?

    @Option(help: "The output format.")
    var format: DiffFormat = .text

    @Flag(help: "The same as --format json.")
    var json = false

    @Flag(help: "Exit with 0 even if changes are breaking.")
    var allowBreaking = false

    @Option(help: ArgumentHelp("An audience that changes may break; can be repeated.", valueName: "audience"))
    var allow: [Audience] = []

    @OptionGroup var plan: PlanFolder

    func run() async throws {
        let folder = try await plan.path()
        let before = try Self.plan(PlanPlace(old, folder: folder))
        let after = try Self.plan(new.map { PlanPlace($0, folder: folder) } ?? .disk(folder))
        let diff = PlanDiff(from: before, to: after)
        switch json ? .json : format {
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

    /// Reads a plan; prints its errors and throws exit status 2 if it cannot be compared.
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

/// The output formats of `sluice diff`.
enum DiffFormat: String, CaseIterable, ExpressibleByArgument {
    case text, markdown, json
}
