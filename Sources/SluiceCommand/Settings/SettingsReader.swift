import ArgumentParser
import Configuration
import EventSchema
import Foundation
import Synchronization

/// Reads settings from the command line, the environment and a file, in this order of precedence, and collects problems.
struct SettingsReader {
    /// The values that options on the command line state or, above those, somebody who changes them while the process runs.
    private let options: [Setting: ConfigValue]
    /// The environment variables that have a value.
    let environment: [String: String]
    private let file: File?
    private let reader: ConfigReader
    private let problems: Problems

    /// Opens the sources; `file` is the configuration file, in which every key must be a setting.
    ///
    /// - Throws: `ValidationError` for an empty option. `finish` throws the problems of the file.
    init(options: CommandLineSettings, file: String?) throws(ValidationError) {
        try Self.refuseEmpty(options.values, file)
        self.init(
            options: Dictionary(uniqueKeysWithValues: options.values.map { (Setting($0), $1) }),
            // Scripts export variables that they have not set as empty ones, which must not hide the file's values.
            environment: ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty },
            file: file.map { File(ConfigurationDocument(path: $0)) }
        )
    }

    /// What the configuration file states; the document itself has the parsed tree, which is not `Sendable`.
    private struct File {
        let path: String
        let entries: [Setting: ConfigurationDocument.Entry]
        let rejected: Set<Setting>
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
        options: [Setting: ConfigValue],
        environment: [String: String],
        file: File?
    ) {
        self.options = options
        self.environment = environment
        self.file = file
        problems = Problems(file?.problems ?? [], environment: environment)
        let stated = (file?.entries ?? [:]).map { setting, entry in
            (AbsoluteConfigKey(setting.components), ConfigValue(entry.content, isSecret: setting.key.isSecret))
        }
        let options = options.map { (AbsoluteConfigKey($0.components), $1) }
        reader = ConfigReader(
            providers: [
                InMemoryProvider(name: "command line", values: Dictionary(uniqueKeysWithValues: options)),
                KeyMappingProvider(
                    upstream: EnvironmentVariablesProvider(environmentVariables: environment, arraySeparator: ";"),
                    keyMapper: { AbsoluteConfigKey([Setting.environmentVariable(for: $0.components).lowercased()]) }
                ),
                // Already parsed, because the providers of files keep no places.
                InMemoryProvider(name: file?.path, values: Dictionary(uniqueKeysWithValues: stated)),
            ],
            accessReporter: problems
        )
    }

    /// A reader of the same sources, which are not read again, with these values above all others.
    func overriding(_ values: [Setting: ConfigValue]) -> SettingsReader {
        SettingsReader(
            options: options.merging(values) { $1 },
            environment: environment,
            file: file
        )
    }

    /// The trackers of the file's section `trackers`.
    var namedTrackers: [ConfigurationDocument.Tracker] { file?.trackers ?? [] }

    // MARK: Values

    /// A text, which is never empty: no source states empty texts.
    func string(_ key: SettingKey, of tracker: String? = nil) -> String? {
        reader.string(forKey: configKey(key, tracker))
    }

    func strings(_ key: SettingKey, of tracker: String? = nil) -> [String]? {
        reader.stringArray(forKey: configKey(key, tracker))
    }

    func bool(_ key: SettingKey, of tracker: String? = nil) -> Bool? { reader.bool(forKey: configKey(key, tracker)) }

    func integer(_ key: SettingKey, of tracker: String? = nil) -> Int? { reader.int(forKey: configKey(key, tracker)) }

    /// A whole number of at least 1.
    func count(_ key: SettingKey, of tracker: String? = nil) -> Int? {
        guard let value = integer(key, of: tracker) else { return nil }
        if value < 1 { note(key, of: tracker, "expected a whole number of at least 1, found \(value)") }
        return max(1, value)
    }

    /// A duration, given as a whole number of a unit.
    func duration(
        _ key: SettingKey,
        of tracker: String? = nil,
        within range: ClosedRange<Int> = 0...86_400_000,
        in unit: (Int) -> Duration
    ) -> Duration? {
        guard let value = integer(key, of: tracker) else { return nil }
        guard range.contains(value) else {
            note(
                key,
                of: tracker,
                "expected a whole number from \(range.lowerBound) to \(range.upperBound), found \(value)"
            )
            return nil
        }
        return unit(value)
    }

    /// One of the values of a type that lists them.
    func choice<Choice>(_ key: SettingKey, of tracker: String? = nil) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let text = string(key, of: tracker) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        note(key, of: tracker, "expected one of \(allowed), found '\(text)'")
        return nil
    }

    private func configKey(_ key: SettingKey, _ tracker: String?) -> ConfigKey {
        ConfigKey(Setting(key, of: tracker).components)
    }

    // MARK: Places

    /// Where the value of a setting comes from.
    func source(of setting: Setting) -> SettingSource {
        if options[setting] != nil { return .option(setting.option ?? setting.name) }
        let variable = setting.environmentVariable
        if environment[variable] != nil { return .environment(variable) }
        return file?.entries[setting].map { .file($0.place) } ?? .standard
    }

    /// Whether the file has a value of the wrong kind for a setting, which is a problem already.
    func isRejected(_ setting: Setting) -> Bool { file?.rejected.contains(setting) ?? false }

    // MARK: Problems

    /// Adds a problem with the value of a setting, which `finish` will throw.
    func note(
        _ key: SettingKey,
        of tracker: String? = nil,
        _ sentence: String,
        as code: SettingProblem.Code = .invalidValue
    ) {
        let setting = Setting(key, of: tracker)
        switch source(of: setting) {
        case .file(let place): note(code, at: place, "\(setting.name): \(sentence)")
        case .option(let name), .environment(let name): note(code, at: .name(name), sentence)
        case .standard: note(code, at: .name(setting.name), sentence)
        }
    }

    /// Adds a problem, which `finish` will throw.
    func note(_ code: SettingProblem.Code, at place: SettingProblem.Place, _ sentence: String) {
        problems.add(SettingProblem(code: code, place: place, sentence: sentence))
    }

    /// Throws all problems found so far.
    func finish() throws(SettingsError) {
        let all = problems.all
        // Stable, so that problems outside the file stay in the order of the settings.
        let sorted = all.enumerated().sorted { first, second in
            let (line, column) = first.element.order
            let (otherLine, otherColumn) = second.element.order
            return (line, column, first.offset) < (otherLine, otherColumn, second.offset)
        }
        if !all.isEmpty { throw SettingsError(problems: sorted.map(\.element)) }
    }

    /// Refuses empty options: an unset variable in a script must not select another file or server.
    private static func refuseEmpty(_ options: [SettingKey: ConfigValue], _ file: String?) throws(ValidationError) {
        for key in SettingKey.allCases where options[key]?.content == .string("") {
            throw ValidationError("\(key.option ?? key.rawValue) is empty.")
        }
        if file?.isEmpty == true { throw ValidationError("--config is empty.") }
    }

    /// Collects problems, among them environment variables of the wrong type, which `ConfigReader` reports only to its access
    /// reporter.
    private final class Problems: AccessReporter {
        private let problems: Mutex<[SettingProblem]>
        private let environment: [String: String]

        init(_ problems: [SettingProblem], environment: [String: String]) {
            self.problems = Mutex(problems)
            self.environment = environment
        }

        var all: [SettingProblem] { problems.withLock { $0 } }
        func add(_ problem: SettingProblem) { problems.withLock { $0.append(problem) } }

        func report(_ event: AccessEvent) {
            guard event.providerResults.contains(where: { if case .failure = $0.result { true } else { false } })
            else { return }
            // Options and the file have values of the right type.
            let variable = Setting.environmentVariable(for: event.metadata.key.components)
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
