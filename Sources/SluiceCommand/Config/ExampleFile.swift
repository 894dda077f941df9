/// A configuration file with every setting, made from `SettingKey`.
///
/// Everything is a comment except the names of the sections. Before a key there is a `#` without a space; before a sentence, one
/// with a space.
enum ExampleFile {
    private static let widthInCharacters = 110

    /// The file.
    static var text: String {
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

    private static var tree: [Part] { tree(of: SettingKey.allCases) { $0.rawValue } }

    private static func tree(of settings: [SettingKey], _ name: (SettingKey) -> String) -> [Part] {
        var root = Part(name: "")
        for key in settings { root.insert(key, at: name(key).split(separator: ".").map(String.init)[...]) }
        return root.parts
    }

    private static func lines(of part: Part, depth: Int) -> [String] {
        let indentation = String(repeating: "  ", count: depth)
        if let key = part.setting {
            let names = ["Default: \(key.defaultText)", key.environmentVariable] + (key.option.map { [$0] } ?? [])
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
            Further trackers. Each has a name, by which events in the plan name it, a type (console, postgres or kafka), the \
            settings of that type, which are explained in the section of the type, and limits of its own in place of those in \
            `queue` and `delivery`. The environment variables contain the name: SLUICE_TRACKERS_WAREHOUSE_URL. A PostgreSQL \
            tracker must also be listed in the plan's `postgresTrackers`.
            """,
            widthInCharacters
        )
        return sentences.map { "  # \($0)" }
            + tracker("warehouse", .postgres, [.postgresURL: " postgres://sluice@warehouse.example/shop"])
            + tracker("audit", .kafka, [.kafkaBrokers: " kafka.example:9092"])
            + tracker("errors", .console, [:])
    }

    private static func tracker(_ name: String, _ type: TrackerType, _ values: [SettingKey: String]) -> [String] {
        let tree = tree(of: SettingKey.settings(of: type)) { $0.keyOfTracker ?? $0.rawValue }
        return ["  #\(name):", "    #type: \(type.rawValue)"] + tree.flatMap { plainLines(of: $0, values, depth: 2) }
    }

    private static func plainLines(of part: Part, _ values: [SettingKey: String], depth: Int) -> [String] {
        let value = part.setting.map { values[$0] ?? Self.value(of: $0) } ?? ""
        return ["\(String(repeating: "  ", count: depth))#\(part.name):\(value)"]
            + part.parts.flatMap { plainLines(of: $0, values, depth: depth + 1) }
    }

    // MARK: Text

    /// The default after the colon; nothing if it cannot be written.
    private static func value(of key: SettingKey) -> String { key.hasFixedDefault ? " \(key.defaultText)" : "" }

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
