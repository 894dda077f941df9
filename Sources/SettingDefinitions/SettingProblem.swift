/// A problem of the settings: where it is, what is wrong, and how to fix it.
package struct SettingProblem: Hashable, Sendable {
    /// What kind of problem it is; stable, so that tools can rely on it.
    package enum Code: String, Sendable {
        case unreadableFile = "unreadable-file"
        case invalidSyntax = "invalid-syntax"
        case unknownKey = "unknown-key"
        case duplicateKey = "duplicate-key"
        case wrongType = "wrong-type"
        case invalidValue = "invalid-value"
        case conflictingSettings = "conflicting-settings"
        case missingSetting = "missing-setting"
        case unknownVariable = "unknown-variable"
        case visibleSecret = "visible-secret"

        /// Whether the settings can be used nevertheless.
        package var isWarning: Bool { self == .unknownVariable || self == .visibleSecret }

        fileprivate var severity: String { isWarning ? "warning" : "error" }
    }

    /// Where a setting has its value from, or would have it from.
    package enum Place: Hashable, Sendable {
        case file(path: String, line: Int, column: Int)
        /// An option, an environment variable, or the key of a setting that is stated nowhere.
        case name(String)
    }

    package let code: Code
    package let place: Place
    /// One sentence without a full stop; it never contains a secret.
    package let sentence: String

    package init(code: Code, place: Place, sentence: String) {
        self.code = code
        self.place = place
        self.sentence = sentence
    }

    /// The order in which problems are printed: by their lines, and then those outside the file.
    package var order: (Int, Int) {
        if case .file(_, let line, let column) = place { return (line, column) }
        return (.max, 0)
    }
}

extension SettingProblem: CustomStringConvertible {
    /// `path:line:column: error: sentence [code]`, as compilers write it.
    package var description: String {
        switch place {
        case .file(let path, let line, let column):
            "\(path):\(line):\(column): \(code.severity): \(sentence) [\(code.rawValue)]"
        case .name(let name):
            "\(code.severity): \(name): \(sentence) [\(code.rawValue)]"
        }
    }
}

/// The settings cannot be used.
package struct SettingsError: Error, CustomStringConvertible {
    package let problems: [SettingProblem]

    package init(problems: [SettingProblem]) {
        self.problems = problems
    }

    /// The problems, one on each line.
    package var description: String { problems.map(\.description).joined(separator: "\n") }
}
