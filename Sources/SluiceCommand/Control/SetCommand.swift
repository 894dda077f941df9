import ArgumentParser
import Foundation
import Operations
import SluiceSettings

/// `sluice set`: changes a setting of a running `serve` temporarily.
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change a setting of a running server temporarily.",
        discussion: """
            The change takes precedence over options, environment variables, the file and defaults, and expires by itself. With a \
            journal it survives a restart. These settings can be changed:

            \(SettingName.changeableNames.map { "  \($0)" }.joined(separator: "\n"))
            """
    )

    @Argument(help: "The setting, such as queue.capacityInEvents or trackers.postgres.delivery.maximumEvents.")
    var key: String

    @Argument(help: "Its value.")
    var value: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long: \(SettingDuration.expectation).", valueName: "duration")
    )
    var duration: String?

    @Flag(help: "End the change of the setting now.")
    var undo = false

    @OptionGroup var control: ControlOptions

    func validate() throws {
        if undo {
            guard value == nil, duration == nil else { throw ValidationError("--undo excludes a value and --for.") }
            return
        }
        guard value != nil, let duration else {
            throw ValidationError("A change needs a value and --for; or use --undo to end one.")
        }
        guard SettingDuration(duration) != nil else {
            throw ValidationError("--for takes \(SettingDuration.expectation), not '\(duration)'.")
        }
    }

    func run() async throws {
        let process = try await control.process()
        let name = key.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? key
        guard !undo else {
            try await process.change("/v1/settings/\(name)/undo")
            return Terminal.printError("The setting '\(key)' has the value that it was started with again.")
        }
        let query = [("value", value ?? ""), ("for", duration ?? "")].map { name, text in
            "\(name)=\(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        let change = try await process.setSetting("/v1/settings/\(name)/set?\(query.joined(separator: "&"))")
        Terminal.printError("The setting '\(change.key)' is \(change.value) until \(change.until).")
    }
}
