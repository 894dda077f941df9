/// The settings of a process that can be changed while it runs.
package protocol ChangeableSettings: Sendable {
    /// The names of those settings; `NAME` stands for the name of a tracker.
    var changeableNames: [String] { get }

    /// The name of a setting as the process spells it.
    ///
    /// - Throws: `SettingRefusal` if there is no such setting, or if it cannot be changed while the process runs.
    func name(of setting: String) throws(SettingRefusal) -> String

    /// Checks values, by the settings' names; returns what applies them.
    ///
    /// All other settings get the values that they have without a change.
    ///
    /// - Throws: `SettingRefusal` if a setting cannot have its value.
    func applying(_ values: [String: String]) throws(SettingRefusal) -> @Sendable () -> Void
}

/// Why a setting cannot be changed.
package struct SettingRefusal: Error, Sendable, Hashable {
    /// The kind of the reason.
    package enum Kind: Sendable {
        /// There is no such setting, or it cannot be changed while the process runs.
        case notChangeable
        /// It cannot have this value.
        case invalidValue
        /// The setting has not been changed.
        case notChanged
    }

    package let kind: Kind
    /// A sentence for the operator.
    package let sentence: String

    package init(_ kind: Kind, _ sentence: String) {
        self.kind = kind
        self.sentence = sentence
    }
}
