import Configuration
import EventSchema
package import SettingDefinitions
import Synchronization

/// Reads settings from the command line, the environment and a file, in this order of precedence, and collects problems.
package struct SettingsReader: Sendable {
    /// The values that options on the command line state or, above those, somebody who changes them while the process runs.
    private let options: [SettingName: SettingValue]
    /// The environment variables that have a value.
    let environment: [String: String]
    private let file: File?
    private let reader: ConfigReader
    private let problems: Problems
    /// The tracker whose settings are read; `nil` for those of the process.
    private var tracker: String?

    /// Opens the sources.
    ///
    /// An empty variable in `environment` counts as not set, because scripts export variables that they have not set, which must
    /// not hide the file's values. Every key in the configuration file at the path `file` must be a setting; `finish` throws what
    /// is wrong with it.
    package init(options: [SettingName: SettingValue] = [:], environment: [String: String], file: String?) {
        self.init(
            options: options,
            environment: environment.filter { !$0.value.isEmpty },
            file: file.map { File(ConfigurationDocument(path: $0)) }
        )
    }

    /// What the configuration file states; the document itself has the parsed tree, which is not `Sendable`.
    private struct File: Sendable {
        let path: String
        let entries: [SettingName: ConfigurationDocument.Entry]
        let rejected: Set<SettingName>
        let trackers: [ConfigurationDocument.Tracker]
        let problems: [SettingProblem]

        init(_ document: ConfigurationDocument) {
            path = document.path
            entries = document.entries
            rejected = document.rejected
            trackers = document.trackers
            problems = document.problems
        }
    }

    private init(
        options: [SettingName: SettingValue],
        environment: [String: String],
        file: File?
    ) {
        self.options = options
        self.environment = environment
        self.file = file
        problems = Problems(file?.problems ?? [], environment: environment)
        let stated = (file?.entries ?? [:]).map { setting, entry in
            (AbsoluteConfigKey(setting.components), ConfigValue(entry.value.content, isSecret: setting.key.isSecret))
        }
        let options = options.map { setting, value in
            (AbsoluteConfigKey(setting.components), ConfigValue(value.content, isSecret: setting.key.isSecret))
        }
        reader = ConfigReader(
            providers: [
                InMemoryProvider(name: "command line", values: Dictionary(uniqueKeysWithValues: options)),
                KeyMappingProvider(
                    upstream: EnvironmentVariablesProvider(environmentVariables: environment, arraySeparator: ";"),
                    keyMapper: { AbsoluteConfigKey([SettingName.environmentVariable(for: $0.components).lowercased()]) }
                ),
                // Already parsed, because the providers of files keep no places.
                InMemoryProvider(name: file?.path, values: Dictionary(uniqueKeysWithValues: stated)),
            ],
            accessReporter: problems
        )
    }

    /// A reader of the same sources, which are not read again, with these values above all others.
    func overriding(_ values: [SettingName: SettingValue]) -> SettingsReader {
        SettingsReader(
            options: options.merging(values) { $1 },
            environment: environment,
            file: file
        )
    }

    /// A reader of the settings of a tracker.
    package func section(ofTracker tracker: String) -> SettingsReader {
        var section = self
        section.tracker = tracker
        return section
    }

    /// The trackers of the file's section `trackers`.
    package var namedTrackers: [ConfigurationDocument.Tracker] { file?.trackers ?? [] }

    // MARK: Places

    /// Where the value of a setting comes from.
    func source(of setting: SettingName) -> SettingSource {
        if options[setting] != nil { return .option(setting.option ?? setting.name) }
        let variable = setting.environmentVariable
        if environment[variable] != nil { return .environment(variable) }
        return file?.entries[setting].map { .file($0.place) } ?? .standard
    }

    /// Whether the file has a value of the wrong kind for a setting, which is a problem already.
    func isRejected(_ setting: SettingName) -> Bool { file?.rejected.contains(setting) ?? false }

    /// The names of the settings whose values were asked for, here or through a section of this reader.
    package var readNames: Set<String> { problems.readNames }

    // MARK: Problems

    /// What was found so far with which the settings can be used nevertheless.
    package var warnings: [SettingProblem] { problems.all.filter(\.code.isWarning) + unknownVariables }

    /// Throws all errors found so far.
    package func finish() throws(SettingsError) {
        let all = problems.all.filter { !$0.code.isWarning }
        // Problems outside the file are in the order of the settings.
        let sorted = all.map { (order: $0.order, setting: order(of: $0.place), problem: $0) }.sorted { first, second in
            (first.order.0, first.order.1, first.setting) < (second.order.0, second.order.1, second.setting)
        }
        if !all.isEmpty { throw SettingsError(problems: sorted.map(\.problem)) }
    }

    /// The index of the setting with a problem, by its option, its variable or its name; the last one for anything else.
    private func order(of place: SettingProblem.Place) -> Int {
        guard case .name(let name) = place else { return 0 }
        return SettingCatalog.keys.firstIndex { [$0.option, $0.environmentVariable, $0.name].contains(name) } ?? .max
    }

    /// Collects problems, among them environment variables of the wrong type, which `ConfigReader` reports only to its access
    /// reporter.
    private final class Problems: AccessReporter {
        private let problems: Mutex<[SettingProblem]>
        /// The names of the settings whose values were asked for.
        private let names = Mutex<Set<String>>([])
        private let environment: [String: String]

        init(_ problems: [SettingProblem], environment: [String: String]) {
            self.problems = Mutex(problems)
            self.environment = environment
        }

        var readNames: Set<String> { names.withLock { $0 } }
        var all: [SettingProblem] { problems.withLock { $0 } }

        /// Adds a problem, unless it is known: some settings are read for several purposes.
        func add(_ problem: SettingProblem) {
            problems.withLock { if !$0.contains(problem) { $0.append(problem) } }
        }

        func report(_ event: AccessEvent) {
            _ = names.withLock { $0.insert(event.metadata.key.components.joined(separator: ".")) }
            guard event.providerResults.contains(where: { if case .failure = $0.result { true } else { false } })
            else { return }
            // Options and the file have values of the right type.
            let variable = SettingName.environmentVariable(for: event.metadata.key.components)
            let type = event.metadata.valueType
            // No secret is a number or a flag.
            let isHarmless = type == .int || type == .bool
            let found = isHarmless ? quoted(environment[variable] ?? "") : "another kind of value"
            let sentence = "expected \(Self.words(for: type)), found \(found)"
            add(SettingProblem(code: .wrongType, place: .name(variable), sentence: sentence))
        }

        private static func words(for type: ConfigType) -> String {
            switch type {
            case .int: SettingKind.number.words
            case .bool: SettingKind.flag.words
            case .stringArray: SettingKind.list.words
            default: SettingKind.text.words
            }
        }
    }
}

extension SettingsReader: SettingValues {
    package func text(_ key: SettingKey) -> String? { reader.string(forKey: configKey(key)) }
    package func texts(_ key: SettingKey) -> [String]? { reader.stringArray(forKey: configKey(key)) }
    package func flag(_ key: SettingKey) -> Bool? { reader.bool(forKey: configKey(key)) }
    package func integer(_ key: SettingKey) -> Int? { reader.int(forKey: configKey(key)) }

    package func name(of key: SettingKey) -> String { setting(key).name }
    package func precedence(of key: SettingKey) -> Int { source(of: setting(key)).precedence }

    package func note(_ key: SettingKey, _ sentence: String, as code: SettingProblem.Code) {
        let setting = setting(key)
        switch source(of: setting) {
        case .file(let place): note(code, at: place, "\(setting.name): \(sentence)")
        case .option(let name), .environment(let name): note(code, at: .name(name), sentence)
        case .standard: note(code, at: .name(setting.name), sentence)
        }
    }

    package func note(_ code: SettingProblem.Code, at place: SettingProblem.Place, _ sentence: String) {
        problems.add(SettingProblem(code: code, place: place, sentence: sentence))
    }

    private func setting(_ key: SettingKey) -> SettingName { SettingName(key, ofTracker: tracker) }

    private func configKey(_ key: SettingKey) -> ConfigKey {
        let setting = setting(key)
        assert(SettingCatalog.key(named: key.name) != nil, "The setting '\(key.name)' is missing in SettingCatalog.")
        return ConfigKey(setting.components)
    }
}

/// Where the value of a setting comes from, by precedence.
enum SettingSource {
    /// An option on the command line.
    case option(String)
    /// An environment variable.
    case environment(String)
    case file(SettingProblem.Place)
    /// Nothing states it, so that it has its default.
    case standard

    /// The higher, the more it counts.
    var precedence: Int {
        switch self {
        case .option: 3
        case .environment: 2
        case .file: 1
        case .standard: 0
        }
    }
}
