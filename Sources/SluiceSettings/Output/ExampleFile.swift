import SettingDefinitions
import TrackerKit

/// A configuration file with every setting, made from `SettingCatalog`.
///
/// Everything is a comment except the names of the sections. Before a key there is a `#` without a space; before a sentence, one
/// with a space.
package enum ExampleFile {
    private static let widthInCharacters = 110

    /// The file.
    package static var text: String {
        let lines = header + tree.flatMap { Self.lines(of: $0, depth: 0) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static let header = [
        "# Every setting of Sluice with its default, as `sluice config example` prints it.",
        "#",
        "# To change a setting, remove the # in front of its key and write its value. An option on the command line takes",
        "# precedence over an environment variable, and that over this file. A key without a value has its default.",
        "# `sluice config check --config FILE` checks a file, and `sluice config show` prints the settings in effect.",
    ]

    // MARK: Sections

    /// A setting, or a section of the file.
    private struct Part {
        let name: String
        var setting: SettingKey?
        var parts: [Part] = []

        /// Adds a setting at a path, in the section that has its other settings.
        mutating func insert(_ key: SettingKey, at path: ArraySlice<String>) {
            guard let first = path.first else { return setting = key }
            let index = parts.firstIndex { $0.name == first } ?? parts.endIndex
            if index == parts.endIndex { parts.append(Part(name: first)) }
            parts[index].insert(key, at: path.dropFirst())
        }
    }

    private static var tree: [Part] { tree(of: SettingCatalog.keys) { $0.name } }

    private static func tree(of settings: [SettingKey], _ name: (SettingKey) -> String) -> [Part] {
        var root = Part(name: "")
        for key in settings { root.insert(key, at: name(key).split(separator: ".").map(String.init)[...]) }
        return root.parts
    }

    private static func lines(of part: Part, depth: Int) -> [String] {
        let indentation = String(repeating: "  ", count: depth)
        if let key = part.setting {
            let names =
                ["Default: \(key.defaultValue.text)"] + (key.allowed.map { ["Range: \($0)"] } ?? []) + [
                    key.environmentVariable
                ]
                + (key.option.map { [$0] } ?? [])
            let width = widthInCharacters - indentation.count
            let comment = wrapped(key.summary, width) + wrapped(names.joined(separator: "; ") + ".", width)
            return [""] + comment.map { "\(indentation)# \($0)" } + ["\(indentation)#\(part.name):\(value(of: key))"]
        }
        // The settings of a section come before the sections in it.
        let parts = part.parts.filter { $0.setting != nil } + part.parts.filter { $0.setting == nil }
        return ["", "\(indentation)\(part.name):"]
            + parts.flatMap { lines(of: $0, depth: depth + 1) }.drop { $0.isEmpty }
            + (depth == 0 && part.name == "trackers" ? [""] + trackers : [])
    }

    // MARK: Trackers

    private static var trackers: [String] {
        let sentences = wrapped(
            """
            Further trackers. Each has a name, by which events in the plan name it, a type (\(types)), the \
            settings of that type, which are explained in the section of the type, and limits of its own in place of those in \
            `queue` and `delivery`. The environment variables contain the name: SLUICE_TRACKERS_WAREHOUSE_URL. A PostgreSQL \
            tracker must also be listed in the plan's `postgresTrackers`.
            """,
            widthInCharacters
        )
        return sentences.map { "  # \($0)" } + SettingCatalog.trackerTypes.flatMap(tracker)
    }

    private static var types: String {
        let names = SettingCatalog.trackerTypeNames
        return "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
    }

    private static func tracker(_ type: any ConfigurableTracker.Type) -> [String] {
        let tree = tree(of: SettingCatalog.keys(ofTracker: type)) { $0.nameOfTracker ?? $0.name }
        let (name, values) = type.example
        return ["  #\(name):", "    #type: \(type.type)"] + tree.flatMap { plainLines(of: $0, values, depth: 2) }
    }

    private static func plainLines(of part: Part, _ values: [SettingKey: String], depth: Int) -> [String] {
        let value = part.setting.map { key in values[key].map { " \($0)" } ?? Self.value(of: key) } ?? ""
        return ["\(String(repeating: "  ", count: depth))#\(part.name):\(value)"]
            + part.parts.flatMap { plainLines(of: $0, values, depth: depth + 1) }
    }

    // MARK: Text

    /// The default after the colon; nothing if it cannot be written.
    private static func value(of key: SettingKey) -> String {
        if case .value(let text) = key.defaultValue { " \(text)" } else { "" }
    }

    /// Breaks a text into lines.
    private static func wrapped(_ text: String, _ width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
