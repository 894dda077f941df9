package import SettingDefinitions
package import TrackerKit

extension FileConfiguration: Configurable {
    package static var defaults: FileConfiguration { FileConfiguration(path: "") }
}

extension SettingKey {
    fileprivate static let filePath = SettingKey(
        "file.path",
        .text,
        """
        The path of the files that events are written to as lines of JSON. {event}, {yyyy}, {MM}, {dd}, {HH} and {node} are replaced by \
        the event's name, parts of the time in UTC, and the name of the machine. With .gz at the end, the files are compressed.
        """,
        default: .none,
        scope: .tracker(type: FileTracker.type)
    )
    fileprivate static let fileNode = SettingKey(
        "file.node",
        .text,
        """
        The name of this machine, for {node}. After a crash, only a process with the same name completes the files that are left, so \
        state it where the host's name changes, as in a container.
        """,
        default: .words("the host's name"),
        scope: .tracker(type: FileTracker.type)
    )
}

extension FileTracker: ConfigurableTracker {
    package static let type = FileConfiguration.defaultName
    package static let settings: [Setting<FileConfiguration>] = [
        Setting(.filePath) { values, file in file.path = values.text(.filePath) ?? "" },
        .choice(
            "file.pathTime",
            \.pathTime,
            scope: .tracker(type: type),
            """
            The time in the path: arrival, or event for the time at which the event happened, which its sender says, so that \
            senders can cause any number of files.
            """
        ),
        Setting(.fileNode) { values, file in file.node = values.text(.fileNode) },
        .count(
            "file.maximumFileBytes",
            \.maximumFileBytes,
            scope: .tracker(type: type),
            "The size from which on a file is complete, in bytes."
        ),
        .duration(
            "file.maximumAgeSeconds",
            \.maximumAge,
            within: 1...604_800,
            scope: .tracker(type: type),
            "How long after it was begun a file is complete, in seconds."
        ),
    ]
    package static let requiresOneOf: [SettingKey] = [.filePath]
    package static let example = (
        name: "archive",
        values: [SettingKey.filePath: "archive/{event}/{yyyy}-{MM}-{dd}/{HH}-{node}.ndjson.gz"]
    )

    package static func configuration(named name: String, from values: any SettingValues) -> FileConfiguration? {
        var file = FileConfiguration.reading(settings, from: values)
        guard values.text(.filePath) != nil else { return nil }
        file.name = name
        do throws(PathTemplate.Problem) {
            _ = try FilePaths(file)
        } catch {
            values.note(.filePath, error.sentence)
            return nil
        }
        return file
    }

    package static func tracker(_ configuration: FileConfiguration, in context: TrackerContext) -> any Tracker {
        FileTracker(configuration, logger: context.logger)
    }
}
