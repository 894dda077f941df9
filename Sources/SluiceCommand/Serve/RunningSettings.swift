import EventPipeline
import Logging
import Operations
import SettingDefinitions
import SluiceSettings

/// The settings of a running `serve` that can be changed without a restart.
struct RunningSettings: ChangeableSettings {
    /// As they were when the process began.
    let settings: Settings
    let pipeline: Pipeline
    let logLevel: SharedLogLevel

    var changeableNames: [String] { SettingName.changeableNames }

    func name(of setting: String) throws(SettingRefusal) -> String { try find(setting).name }

    func applying(_ values: [String: String]) throws(SettingRefusal) -> @Sendable () -> Void {
        var changes: [SettingName: SettingValue] = [:]
        for (name, text) in values {
            let setting = try find(name)
            guard let value = SettingValue(text, setting.key.kind) else {
                throw refusal("\(name): expected \(setting.key.kind.words), found '\(text)'")
            }
            changes[setting] = value
        }
        let changed: Settings
        do throws(SettingsError) {
            changed = try settings.changing(changes)
        } catch {
            throw refusal(error.problems.map { Self.sentence(of: $0, changes) }.joined(separator: "; "))
        }
        return { [pipeline, logLevel] in
            pipeline.changeLimits(to: changed.pipeline)
            logLevel.current = changed.process.logLevel
        }
    }

    /// The sentence about a problem, with the name of the setting in place of its option.
    private static func sentence(of problem: SettingProblem, _ changes: [SettingName: SettingValue]) -> String {
        guard case .name(let place) = problem.place else { return problem.sentence }
        let name = changes.keys.first { $0.option == place }?.name ?? place
        return "\(name): \(problem.sentence)"
    }

    private func refusal(_ reason: String) -> SettingRefusal { SettingRefusal(.invalidValue, reason + ".") }

    private func find(_ name: String) throws(SettingRefusal) -> SettingName {
        if let setting = SettingName(changeable: name, trackers: trackers) { return setting }
        var sentence =
            "'\(name)' cannot be changed while the process runs; these can: \(changeableNames.joined(separator: ", "))."
        if name.hasPrefix("trackers.") {
            sentence += " The trackers are: \(trackers.isEmpty ? "none" : trackers.joined(separator: ", "))."
        }
        throw SettingRefusal(.notChangeable, sentence)
    }

    /// The trackers' names, as the section `trackers` spells them.
    private var trackers: [String] { settings.trackers.map(\.name) }
}
