/// What the value of a setting is, in the configuration file and in an environment variable.
package enum SettingKind: Sendable {
    case text
    /// A whole number.
    case number
    /// True or false.
    case flag
    /// A list of texts.
    case list

    /// The kind in a sentence such as "expected a text".
    package var words: String {
        switch self {
        case .text: "a text"
        case .number: "a whole number"
        case .flag: "true or false"
        case .list: "a list of texts"
        }
    }
}
