import ArgumentParser
import Foundation

/// `sluice pause`: pauses a tracker of a running `serve`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause a tracker of a running server.",
        discussion: """
            Its events wait in the journal, and it stays paused after a restart. Without a journal, its queue fills up, and a \
            restart resumes it.
            """
    )

    @Argument(help: "The tracker's name.")
    var tracker: String

    @OptionGroup var control: ControlOptions

    func run() async throws {
        try await control.process().change(Self.path(tracker, "pause"))
        Terminal.printError("The tracker '\(tracker)' is paused; 'sluice resume \(tracker)' resumes it.")
    }

    /// The path that changes a tracker.
    static func path(_ tracker: String, _ change: String) -> String {
        let name = tracker.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? tracker
        return "/v1/trackers/\(name)/\(change)"
    }
}

/// `sluice resume`: lets a paused tracker deliver again.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a paused tracker of a running server."
    )

    @Argument(help: "The tracker's name.")
    var tracker: String

    @OptionGroup var control: ControlOptions

    func run() async throws {
        try await control.process().change(PauseCommand.path(tracker, "resume"))
        Terminal.printError("The tracker '\(tracker)' delivers again.")
    }
}
