import Foundation
import PipelineTestSupport
import SettingDefinitions
import SluiceSettings

/// A folder with configuration files and the files that they name.
final class SettingsFolder {
    private let folder = TemporaryFolder()
    /// The path, with a slash at its end.
    var path: String { folder.path + "/" }

    /// Creates the folder; `file` is the content of `sluice.yaml`, or `nil` if there is no such file.
    init(_ file: String? = nil) throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        if let file { try write(file, to: "sluice.yaml") }
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path + name))
    }

    /// The settings that a file of the folder, the environment and options state; `~` in an environment variable stands for the folder.
    func reader(
        _ file: String? = nil,
        environment: [String: String] = [:],
        options: [SettingKey: SettingValue] = [:]
    ) -> SettingsReader {
        SettingsReader(
            options: Dictionary(uniqueKeysWithValues: options.map { (SettingName($0), $1) }),
            environment: environment.mapValues { $0.replacing("~", with: path) },
            file: file.map { path + $0 }
        )
    }

    /// What `sluice config check` finds, without the folder's path.
    func problems(
        _ file: String? = nil,
        environment: [String: String] = [:],
        options: [SettingKey: SettingValue] = [:]
    ) -> [String] {
        do throws(SettingsError) {
            try reader(file, environment: environment, options: options).check()
            return []
        } catch {
            return error.problems.map { $0.description.replacing(path, with: "") }
        }
    }

    /// What `sluice config show` prints, by the settings' names; the place is without the folder's path.
    func shown(
        _ file: String? = nil,
        environment: [String: String] = [:],
        options: [SettingKey: SettingValue] = [:],
        hasJournal: Bool = true
    ) -> [String: Shown] {
        let reader = reader(file, environment: environment, options: options)
        let settings = reader.shownSettings(of: reader.trackers(), hasJournal: hasJournal)
        return Dictionary(
            uniqueKeysWithValues: settings.map {
                ($0.key, Shown($0.value, $0.source, $0.place?.replacing(path, with: "")))
            }
        )
    }

    struct Shown: Equatable {
        let value: SettingValue
        let source: String
        let place: String?

        init(_ value: SettingValue, _ source: String = "default", _ place: String? = nil) {
            self.value = value
            self.source = source
            self.place = place
        }
    }
}
