import ArgumentParser
import EventSchema
import Foundation
import PlanReading
import SettingDefinitions
import SluiceSettings

/// The tracking plan that a command reads.
struct PlanFolder: ParsableArguments, SettingOptions {
    @Option(help: .setting(.eventsFolder, valueName: "dir"), completion: .directory)
    var events: String?

    @OptionGroup var config: ConfigurationFile

    func add(to settings: inout CommandLineSettings) {
        settings.set(.eventsFolder, events)
    }

    /// The folder that the option, the environment or the configuration file names, or the default.
    func path() async throws -> String {
        try config.text(.eventsFolder, option: events) ?? ProcessSettings.defaults.eventsFolder
    }

    /// Reads the plan in that folder.
    func read() async throws -> TrackingPlan {
        try Self.plan(at: try await path())
    }

    /// Reads a plan and prints its diagnostics; throws exit status 1 if it has errors.
    static func plan(at folder: String) throws -> TrackingPlan {
        let reading = PlanReader().read(paths: [folder])
        for diagnostic in reading.diagnostics { Terminal.printError("\(diagnostic)") }
        guard let plan = reading.plan else {
            if !FileManager.default.fileExists(atPath: folder) {
                Terminal.printError("'sluice init' makes a plan to begin with; --events names another folder.")
            }
            throw ExitCode(1)
        }
        return plan
    }
}
