import ArgumentParser
import Configuration
import Foundation
import Synchronization
import SystemPackage

/// Reads settings from the command line, the environment and a file, in this order of precedence, and collects problems.
struct SettingsReader {
    private let reader: ConfigReader
    private let problems: Problems

    /// Opens the sources; `file` is the configuration file, a JSON file in which every key must be a setting.
    ///
    /// - Throws: `ValidationError` for an empty option; `SettingsError` for a file that cannot be used.
    init(options: CommandLineSettings, file: String?) async throws {
        let options = options.values
        let environment = ProcessInfo.processInfo.environment
        try Self.refuseEmpty(options, file)
        var providers: [any ConfigProvider] = [
            InMemoryProvider(
                name: "command line",
                values: Dictionary(uniqueKeysWithValues: options.map { (Self.absoluteKey($0), $1) })
            ),
            KeyMappingProvider(
                upstream: EnvironmentVariablesProvider(environmentVariables: environment, arraySeparator: ";"),
                keyMapper: Self.environmentKey
            ),
        ]
        if let file {
            try Self.check(file)
            do {
                providers.append(try await FileProvider<JSONSnapshot>(filePath: FilePath(file)))
            } catch {
                throw SettingsError("\(file): \(error)")
            }
        }
        problems = Problems(file: file)
        reader = ConfigReader(providers: providers, accessReporter: problems)
    }

    /// A text; an empty one counts as not set, because scripts export variables without a value.
    func string(_ key: SettingKey) -> String? {
        reader.string(forKey: ConfigKey(key.rawValue)).flatMap { $0.isEmpty ? nil : $0 }
    }

    func strings(_ key: SettingKey) -> [String]? { reader.stringArray(forKey: ConfigKey(key.rawValue)) }
    func bool(_ key: SettingKey) -> Bool? { reader.bool(forKey: ConfigKey(key.rawValue)) }

    /// A whole number of at least 1.
    func count(_ key: SettingKey) -> Int? {
        guard let value = integer(key) else { return nil }
        if value < 1 { note("\(key.rawValue): expected a whole number of at least 1, found \(value)") }
        return max(1, value)
    }

    /// A duration of zero or more, given as a whole number of a unit.
    func duration(_ key: SettingKey, in unit: (Int) -> Duration) -> Duration? {
        guard let value = integer(key) else { return nil }
        guard (0...86_400_000).contains(value) else {
            note("\(key.rawValue): expected a whole number from 0 to 86400000, found \(value)")
            return nil
        }
        return unit(value)
    }

    /// One of the values of a type that lists them.
    func choice<Choice>(_ key: SettingKey) -> Choice?
    where Choice: RawRepresentable<String> & CaseIterable {
        guard let text = string(key) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        note("\(key.rawValue): expected one of \(allowed), found '\(text)'")
        return nil
    }

    /// Adds a problem, which `finish` will throw.
    func note(_ problem: String) { problems.add(problem) }

    /// Throws all problems found so far.
    func finish() throws(SettingsError) {
        let all = problems.all
        if !all.isEmpty { throw SettingsError(all.joined(separator: "\n")) }
    }

    private func integer(_ key: SettingKey) -> Int? { reader.int(forKey: ConfigKey(key.rawValue)) }

    private static func absoluteKey(_ key: SettingKey) -> AbsoluteConfigKey {
        AbsoluteConfigKey(key.rawValue.split(separator: ".").map(String.init))
    }

    private static func environmentKey(_ key: AbsoluteConfigKey) -> AbsoluteConfigKey {
        guard let setting = SettingKey(rawValue: key.components.joined(separator: ".")) else { return key }
        return AbsoluteConfigKey(setting.environmentVariable.lowercased().split(separator: "_").map(String.init))
    }

    /// Refuses empty options: an unset variable in a script must not select another file or server.
    private static func refuseEmpty(_ options: [SettingKey: ConfigValue], _ file: String?) throws(ValidationError) {
        for key in SettingKey.allCases where options[key]?.content == .string("") {
            throw ValidationError("\(key.option ?? key.rawValue) is empty.")
        }
        if file?.isEmpty == true { throw ValidationError("--config is empty.") }
    }

    /// Refuses a file that cannot be read, is not JSON, or has unknown keys.
    private static func check(_ file: String) throws(SettingsError) {
        let object: Any
        do {
            let descriptor = try FileDescriptor.open(FilePath(file), .readOnly)
            let handle = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: true)
            object = try JSONSerialization.jsonObject(with: handle.readToEnd() ?? Data())
        } catch let error as Errno {
            throw SettingsError("\(file): \(error)")
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"].map { ": \($0)" } ?? ""
            throw SettingsError("\(file): not JSON\(reason)")
        }
        guard object is [String: Any] else { throw SettingsError("\(file): expected a JSON object") }
        let known = Set(SettingKey.allCases.map(\.rawValue))
        let unknown = keys(of: object, prefix: "").filter { !known.contains($0) }.sorted()
        if !unknown.isEmpty {
            throw SettingsError(unknown.map { "\(file): there is no setting '\($0)'" }.joined(separator: "\n"))
        }
    }

    private static func keys(of value: Any, prefix: String) -> [String] {
        guard let object = value as? [String: Any] else { return [prefix] }
        return object.flatMap { keys(of: $1, prefix: prefix.isEmpty ? $0 : "\(prefix).\($0)") }
    }

    /// Collects problems, among them values of the wrong type, which `ConfigReader` reports only to its access reporter.
    private final class Problems: AccessReporter {
        private let file: String?
        private let texts = Mutex<[String]>([])

        init(file: String?) {
            self.file = file
        }

        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }

        func report(_ event: AccessEvent) {
            let key = event.metadata.key.components.joined(separator: ".")
            for provider in event.providerResults {
                guard case .failure = provider.result else { continue }
                let place = place(of: key, in: provider.providerName)
                add("\(place): expected \(Self.words(for: event.metadata.valueType)), found another kind of value")
            }
        }

        /// `SLUICE_HTTP_LISTEN`, or `sluice.json: http.listen`.
        private func place(of key: String, in provider: String) -> String {
            if provider.hasPrefix("KeyMapping"), let setting = SettingKey(rawValue: key) {
                return setting.environmentVariable
            }
            return file.map { "\($0): \(key)" } ?? key
        }

        private static func words(for type: ConfigType) -> String {
            switch type {
            case .int: "a whole number"
            case .bool: "true or false"
            case .string: "a text"
            case .stringArray: "a list of texts"
            default: "\(type)"
            }
        }
    }
}

/// The problems of the settings, one per line.
struct SettingsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
