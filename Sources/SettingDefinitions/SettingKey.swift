/// The declaration of a setting, without the place of its value.
///
/// Equal by its name.
package struct SettingKey: Sendable {
    /// The key in the configuration file, such as `http.listen`.
    package let name: String
    package let kind: SettingKind
    /// What the setting decides, as one or more sentences.
    package let summary: String
    package let defaultValue: Default
    /// The numbers that are allowed; `nil` if the value is no number.
    package let range: ClosedRange<Int>?
    /// The command-line option; `nil` if the setting has none.
    package let option: String?
    /// The environment variable.
    package let environmentVariable: String
    package let secrecy: Secrecy
    package let scope: Scope
    /// Whether the setting can be changed while `serve` runs, because the process reads its value repeatedly.
    package let isChangeable: Bool

    /// The value of a setting that nothing states.
    package enum Default: Sendable {
        /// A value that the configuration file accepts.
        case value(String)
        /// A description of a value.
        case words(String)

        package static let none = Default.words("none")

        /// The default as help texts print it.
        package var text: String {
            switch self {
            case .value(let text), .words(let text): text
            }
        }
    }

    /// Whether the value may be printed.
    package enum Secrecy: Sendable {
        case harmless
        /// The value contains a password or a key, or is one.
        case secret
        /// A part of the value may be secret; the function replaces that part. The value of a list is passed one text at a time.
        case partlySecret(@Sendable (String) -> String)
        /// A text of the list may be secret because of another one; the function replaces what is.
        case partlySecretList(@Sendable ([String]) -> [String])
    }

    /// What has a value of its own for the setting.
    package enum Scope: Sendable, Hashable {
        case process
        /// Each tracker of the type with this name, which the key begins with.
        case tracker(type: String)
        /// The process, and each tracker that needs another value than that.
        case processAndTracker
    }

    /// Creates a setting.
    ///
    /// `variable` is the environment variable, if other tools have a name for it; otherwise the name is derived from the key.
    package init(
        _ name: String,
        _ kind: SettingKind,
        _ summary: String,
        default defaultValue: Default,
        range: ClosedRange<Int>? = nil,
        option: String? = nil,
        variable: String? = nil,
        secrecy: Secrecy = .harmless,
        scope: Scope = .process,
        isChangeable: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.summary = summary
        self.defaultValue = defaultValue
        self.range = range
        self.option = option
        environmentVariable = variable ?? Self.environmentVariable(derivedFrom: name)
        self.secrecy = secrecy
        self.scope = scope
        self.isChangeable = isChangeable
    }

    /// The allowed numbers, as `1 to 86400` or `at least 1`; `nil` if every number is that makes sense.
    package var allowed: String? {
        guard let range else { return nil }
        guard range.upperBound < SettingKey.anyDuration.upperBound else {
            return range.lowerBound == 0 ? nil : "at least \(range.lowerBound)"
        }
        return "\(range.lowerBound) to \(range.upperBound)"
    }

    /// Where the setting can be stated, as `--postgres, DATABASE_URL or postgres.url`.
    package var places: String {
        "\([option, environmentVariable].compactMap(\.self).joined(separator: ", ")) or \(name)"
    }

    /// Whether the value may contain a password or a key, so that it must not be logged.
    package var isSecret: Bool { if case .harmless = secrecy { false } else { true } }

    /// The key beneath a tracker's name in the section `trackers`; `nil` if it cannot be there.
    package var nameOfTracker: String? {
        switch scope {
        case .process: nil
        case .tracker(let type): String(name.dropFirst(type.count + 1))
        case .processAndTracker: name
        }
    }
}

extension SettingKey: Hashable {
    package static func == (left: SettingKey, right: SettingKey) -> Bool { left.name == right.name }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

// MARK: Environment variables

extension SettingKey {
    /// `SLUICE_HTTP_MAX_WAIT_SECONDS` for `http.maxWaitSeconds`; characters that a variable cannot have become underscores.
    package static func environmentVariable(derivedFrom name: String) -> String {
        let words = words(of: name).joined(separator: "_").uppercased()
        return "SLUICE_" + String(words.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// Splits `http.maxWaitSeconds` into `http`, `max`, `Wait`, `Seconds`.
    private static func words(of name: String) -> [String] {
        var words: [String] = [""]
        for character in name {
            if character == "." {
                words.append("")
            } else {
                if character.isUppercase, words[words.count - 1].last?.isUppercase == false { words.append("") }
                words[words.count - 1].append(character)
            }
        }
        return words
    }
}

// MARK: Secrets

extension SettingKey {
    /// What is printed in place of a secret.
    package static let mask = "***"

    /// A text as it may be printed.
    package func redacted(_ text: String) -> String {
        switch secrecy {
        case .harmless: text
        case .secret: Self.mask
        case .partlySecret(let redact): redact(text)
        case .partlySecretList(let redact): redact([text]).first ?? Self.mask
        }
    }

    /// A list as it may be printed.
    package func redacted(list texts: [String]) -> [String] {
        if case .partlySecretList(let redact) = secrecy { return redact(texts) }
        return texts.map(redacted)
    }
}
