import ArgumentParser
import EventSchema

/// The plan that is exported.
struct ExportSource: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the tracking plan.", valueName: "dir"))
    var events: String?

    @Option(help: ArgumentHelp("A configuration file (JSON); `sluice settings` lists what can stand in it."))
    var config: String?

    /// Reads the plan; what is wrong with it is printed, and an error in it ends the command with 1.
    func plan() async throws -> TrackingPlan {
        let directory = try await setting(.eventsDirectory, stated: events) ?? "events"
        let reading = PlanReader().read(paths: [directory])
        for diagnostic in reading.diagnostics { Terminal.printError("\(diagnostic)") }
        guard let plan = reading.plan else { throw ExitCode(1) }
        return plan
    }

    /// A setting of the command line, the environment or the file; `nil` where none of them says it.
    func setting(_ key: SettingKey, stated: String?) async throws -> String? {
        try await Settings.folder(key, stated: stated, file: config)
    }
}

/// The file that an export goes to.
struct ExportTarget: ParsableArguments {
    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; else standard output.", valueName: "file"))
    var output: String?

    func validate() throws {
        try ExportOutput.validate(output)
    }

    func write(_ text: String) throws {
        guard let output else { return try ExportOutput.print(text) }
        try ExportOutput.write(text, to: output)
    }
}
