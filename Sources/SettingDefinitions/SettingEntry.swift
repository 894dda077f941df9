/// An entry `name=value` of a setting that is a list.
package struct SettingEntry {
    /// What is before the first separator; the whole entry if there is none.
    package let name: String
    /// What is after it; `nil` if there is none.
    package let value: String?

    /// Divides an entry at its first separator.
    ///
    /// It searches scalars, because a separator followed by a combining accent is another `Character`.
    package init(_ text: String, separator: Unicode.Scalar = "=") {
        let scalars = text.unicodeScalars
        guard let end = scalars.firstIndex(of: separator) else {
            (name, value) = (text, nil)
            return
        }
        name = String(scalars[..<end])
        value = String(scalars[scalars.index(after: end)...])
    }
}
