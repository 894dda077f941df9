/// A setting with the place in a configuration that its value goes to.
package struct Setting<Configuration: Configurable>: Sendable {
    package let key: SettingKey
    /// Sets the value that `values` states, if it does.
    package let read: @Sendable (_ values: any SettingValues, _ configuration: inout Configuration) -> Void
    /// The value in a configuration, as the configuration file would state it; `nil` if only `read` knows where that is.
    package let text: @Sendable (_ configuration: Configuration) -> String?

    /// A setting whose value is read together with others.
    package init(_ key: SettingKey) {
        self.init(key) { _, _ in }
    }

    /// A setting whose value `read` checks and converts.
    package init(_ key: SettingKey, read: @escaping @Sendable (any SettingValues, inout Configuration) -> Void) {
        self.init(key, text: { _ in nil }, read: read)
    }

    private init(
        _ key: SettingKey,
        text: @escaping @Sendable (Configuration) -> String?,
        read: @escaping @Sendable (any SettingValues, inout Configuration) -> Void
    ) {
        self.key = key
        self.text = text
        self.read = read
    }
}

/// A configuration whose settings are declared.
package protocol Configurable: Sendable {
    /// The configuration in which every setting has its default.
    static var defaults: Self { get }
}

extension Configurable {
    /// The configuration that `values` states, with the defaults of all other settings.
    package static func reading(_ settings: [Setting<Self>], from values: any SettingValues) -> Self {
        var configuration = Self.defaults
        configuration.read(settings, from: values)
        return configuration
    }

    /// Sets what `values` states.
    package mutating func read(_ settings: [Setting<Self>], from values: any SettingValues) {
        for setting in settings { setting.read(values, &self) }
    }
}

/// A unit in which a setting states a duration; the setting's key ends with its name.
package enum SettingUnit: String, Sendable, CaseIterable {
    case milliseconds = "Milliseconds"
    case seconds = "Seconds"
    case hours = "Hours"
    case days = "Days"

    package var duration: Duration {
        switch self {
        case .milliseconds: .milliseconds(1)
        case .seconds: .seconds(1)
        case .hours: .seconds(3600)
        case .days: .seconds(86_400)
        }
    }

    /// The unit that the name of a setting ends with.
    init(of name: String) {
        guard let unit = Self.allCases.first(where: { name.hasSuffix($0.rawValue) }) else {
            preconditionFailure("The name '\(name)' does not end with a unit.")
        }
        self = unit
    }

    /// A duration as a whole number of units.
    func count(_ duration: Duration) -> Int { Int((duration / self.duration).rounded()) }
}

// MARK: Kinds

extension Setting {
    /// A place in a configuration.
    package typealias Place<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    /// A text.
    package static func text(
        _ name: String,
        _ place: Place<String>,
        option: String? = nil,
        variable: String? = nil,
        scope: SettingKey.Scope = .process,
        _ summary: String
    ) -> Setting {
        let standard = Configuration.defaults[keyPath: place]
        let key = SettingKey(
            name,
            .text,
            summary,
            default: standard.isEmpty ? .none : .value(standard),
            option: option,
            variable: variable,
            scope: scope
        )
        return Setting(key, text: { $0[keyPath: place].isEmpty ? nil : $0[keyPath: place] }) { values, configuration in
            if let text = values.text(key) { configuration[keyPath: place] = text }
        }
    }

    /// A text that may be absent; `default` is what applies then.
    package static func text(
        _ name: String,
        _ place: Place<String?>,
        default standard: SettingKey.Default = .none,
        option: String? = nil,
        _ summary: String
    ) -> Setting {
        let key = SettingKey(name, .text, summary, default: standard, option: option)
        return Setting(key) { values, configuration in
            if let text = values.text(key) { configuration[keyPath: place] = text }
        }
    }

    /// The two settings of a secret, which is stated itself or in a file; `read` puts it into the configuration.
    package static func secret(
        _ key: SettingKey,
        orIn file: SettingKey,
        read: @escaping @Sendable (Secret, any SettingValues, inout Configuration) -> Void
    ) -> [Setting] {
        let secret = Setting(key) { values, configuration in
            if let secret = values.secret(key, file: file) { read(secret, values, &configuration) }
        }
        return [secret, Setting(file)]
    }

    /// One of the values of a type that lists them.
    package static func choice<Choice>(
        _ name: String,
        _ place: Place<Choice>,
        option: String? = nil,
        scope: SettingKey.Scope = .process,
        isChangeable: Bool = false,
        _ summary: String
    ) -> Setting where Choice: RawRepresentable<String> & CaseIterable & Sendable {
        let key = SettingKey(
            name,
            .text,
            summary,
            default: .value(Configuration.defaults[keyPath: place].rawValue),
            option: option,
            scope: scope,
            isChangeable: isChangeable
        )
        return Setting(key, text: { $0[keyPath: place].rawValue }) { values, configuration in
            if let choice: Choice = values.choice(key) { configuration[keyPath: place] = choice }
        }
    }

    /// True or false.
    package static func flag(
        _ name: String,
        _ place: Place<Bool>,
        option: String? = nil,
        _ summary: String
    ) -> Setting {
        let standard = "\(Configuration.defaults[keyPath: place])"
        let key = SettingKey(name, .flag, summary, default: .value(standard), option: option)
        return Setting(key, text: { "\($0[keyPath: place])" }) { values, configuration in
            if let flag = values.flag(key) { configuration[keyPath: place] = flag }
        }
    }

    /// A whole number of at least 1.
    package static func count(
        _ name: String,
        _ place: Place<Int>,
        scope: SettingKey.Scope = .process,
        isChangeable: Bool = false,
        _ summary: String
    ) -> Setting {
        let key = SettingKey(
            name,
            .number,
            summary,
            default: .value("\(Configuration.defaults[keyPath: place])"),
            range: 1...Int.max,
            scope: scope,
            isChangeable: isChangeable
        )
        return Setting(key, text: { "\($0[keyPath: place])" }) { values, configuration in
            if let count = values.number(key) { configuration[keyPath: place] = count }
        }
    }

    /// A whole number of at least 1, whose default depends on other things, which are described.
    package static func count(
        _ name: String,
        _ place: Place<Int?>,
        option: String? = nil,
        scope: SettingKey.Scope = .process,
        default words: String,
        _ summary: String
    ) -> Setting {
        let key = SettingKey(
            name,
            .number,
            summary,
            default: .words(words),
            range: 1...Int.max,
            option: option,
            scope: scope
        )
        return Setting(key, text: { $0[keyPath: place].map(String.init) }) { values, configuration in
            if let count = values.number(key) { configuration[keyPath: place] = count }
        }
    }

    /// A duration, as a whole number of the unit that the name ends with.
    package static func duration(
        _ name: String,
        _ place: Place<Duration>,
        within range: ClosedRange<Int> = SettingKey.anyDuration,
        option: String? = nil,
        scope: SettingKey.Scope = .process,
        isChangeable: Bool = false,
        _ summary: String
    ) -> Setting {
        let key = SettingKey(
            duration: name,
            summary,
            default: Configuration.defaults[keyPath: place],
            within: range,
            option: option,
            scope: scope,
            isChangeable: isChangeable
        )
        return Setting(key, text: { "\(SettingUnit(of: name).count($0[keyPath: place]))" }) { values, configuration in
            if let duration = values.duration(key) { configuration[keyPath: place] = duration }
        }
    }
}

extension SettingKey {
    /// The range of a duration that needs no limit of its own: up to 1,000 days in seconds, so that sums of durations cannot overflow.
    package static let anyDuration = 0...86_400_000

    /// A duration, as a whole number of the unit that the name ends with.
    package init(
        duration name: String,
        _ summary: String,
        default defaultValue: Duration,
        within range: ClosedRange<Int> = SettingKey.anyDuration,
        option: String? = nil,
        scope: Scope = .process,
        isChangeable: Bool = false
    ) {
        self.init(
            name,
            .number,
            summary,
            default: .value("\(SettingUnit(of: name).count(defaultValue))"),
            range: range,
            option: option,
            scope: scope,
            isChangeable: isChangeable
        )
    }
}
