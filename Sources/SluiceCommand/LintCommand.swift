import ArgumentParser
import EventCodegen
import EventSchema
import PlanReading

/// `sluice lint`: every problem of a tracking plan in one run.
struct LintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Check a tracking plan, and print every problem it has.",
        discussion: """
            Prints a line for each problem as 'path:line:column: error|warning: sentence [code]'. What only the \
            generator of Swift refuses, with its default options, is a warning, and looked for once there are no errors. \
            Without a path it is the events folder.

            Exits with 0 when there are no errors, 1 when there are, 64 when it was called wrongly.
            """
    )

    @Argument(help: "Plan files, and folders whose *.plist files belong to the plan.", completion: .file())
    var paths: [String] = []

    @Flag(help: "Print one JSON object instead.")
    var json = false

    @OptionGroup var plan: PlanFolder

    func validate() throws {
        guard !paths.isEmpty else { return }
        if plan.events != nil { throw ValidationError("Name the plan by paths or with --events.") }
        if plan.config != nil { throw ValidationError("--config says nothing about paths that are named.") }
    }

    func run() async throws {
        // Nobody may generate Swift from the plan: to those who only send over HTTP such names are no error.
        let reading = PlanReader().read(paths: paths.isEmpty ? [try await plan.path()] : paths).adding { plan in
            SwiftGenerator.collisions(in: plan).map(\.asWarning)
        }
        if json {
            try Terminal.print(try JSONText.of(LintReport(reading)))
        } else {
            try Terminal.print(lines: reading.diagnostics)
            Terminal.printError("\(LintReport.summary(of: reading))")
        }
        if reading.errorCount > 0 { throw ExitCode(1) }
    }
}

/// What `sluice lint --json` prints.
private struct LintReport: Encodable {
    struct Problem: Encodable {
        var path: String
        var line: Int
        var column: Int
        var severity: String
        var code: String
        var sentence: String
    }

    var errors: Int
    var warnings: Int
    /// How many events the plan has; absent when it has errors.
    var events: Int?
    var problems: [Problem]

    init(_ reading: PlanReport) {
        errors = reading.errorCount
        warnings = reading.warningCount
        events = reading.plan?.events.count
        problems = reading.diagnostics.map {
            Problem(
                path: $0.location.file,
                line: $0.location.line,
                column: $0.location.column,
                severity: $0.severity.rawValue,
                code: $0.code.rawValue,
                sentence: $0.sentence
            )
        }
    }

    /// One line for people, on standard error: `12 events, no problems`.
    static func summary(of reading: PlanReport) -> String {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        let problems =
            reading.diagnostics.isEmpty
            ? "no problems" : "\(count(reading.errorCount, "error")), \(count(reading.warningCount, "warning"))"
        guard let plan = reading.plan else { return problems }
        return "\(count(plan.events.count, "event")), \(problems)"
    }
}
