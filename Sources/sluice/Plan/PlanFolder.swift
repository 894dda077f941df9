import ArgumentParser

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
        try await Settings.folder(.eventsDirectory, stated: events, file: config) ?? Settings.defaultEventsFolder
    }
}
