import ArgumentParser
import EventCodegen
import EventModel
import EventSchema
import PlanReading

/// `sluice lint`: reports every problem of a tracking plan in one run.
struct LintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Check a tracking plan, and print all its problems.",
        discussion: """
            Prints a line for each problem as 'path:line:column: error|warning: sentence [code]'. Without a path, it checks \
            the events folder. Names that collide only in generated Swift, with the generator's default options, are \
            warnings, and are reported once there are no errors.

            Exits with 0 if there are no errors, 1 if there are, and 64 for wrong usage.
            """
    )

    @Argument(help: "Plan files, and folders with *.plist files. Default: the events folder.", completion: .file())
    var paths: [String] = []

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup var plan: PlanFolder

    func validate() throws {
        guard !paths.isEmpty else { return }
        if plan.events != nil { throw ValidationError("Give paths or --events, not both.") }
        if plan.config.path != nil { throw ValidationError("--config has no effect if paths are given.") }
    }

    func run() async throws {
        // Warnings only, because a plan may be used over HTTP alone, without generated Swift.
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

/// The output of `sluice lint --json`.
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
    /// The number of events; absent if the plan has errors.
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

    /// A summary for standard error: `12 events, no problems`.
    static func summary(of reading: PlanReport) -> String {
        let problems =
            reading.diagnostics.isEmpty
            ? "no problems" : "\(reading.errorCount.of("error")), \(reading.warningCount.of("warning"))"
        guard let plan = reading.plan else { return problems }
        return "\(plan.events.count.of("event")), \(problems)"
    }
}
