import ArgumentParser
import EventSchema
import PlanReading

/// The tracking plan that the commands are about.
struct PlanFolder: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the tracking plan.", valueName: "dir"), completion: .directory)
    var events: String?

    @Option(
        help: ArgumentHelp("A configuration file (JSON); `sluice settings` lists what can stand in it."),
        completion: .file()
    )
    var config: String?

    /// The folder that the option, the environment or the file names, or the default.
    func path() async throws -> String {
        try await Settings.text(.eventsDirectory, stated: events, file: config) ?? Settings.defaultEventsFolder
    }

    /// The plan of that folder.
    func read() async throws -> TrackingPlan {
        try Self.plan(at: try await path())
    }

    /// Reads a plan; what is wrong with it is printed, and an error in it ends the command with 1.
    static func plan(at folder: String) throws -> TrackingPlan {
        let reading = PlanReader().read(paths: [folder])
        for diagnostic in reading.diagnostics { Terminal.printError("\(diagnostic)") }
        guard let plan = reading.plan else { throw ExitCode(1) }
        return plan
    }
}
