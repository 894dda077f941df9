/// Text on its way into a statement.
package enum SQLText {
    /// A name between double quotes, so that every name is allowed and none is folded to lower case.
    package static func identifier(_ name: String) -> String {
        quoted(name, with: "\"")
    }

    /// A string constant; the sessions have `standard_conforming_strings` on, so a backslash means itself.
    package static func literal(_ text: String) -> String {
        quoted(text, with: "'")
    }

    private static func quoted(_ text: String, with quote: Character) -> String {
        var result = String(quote)
        for character in text.unicodeScalars {
            // No name or text of the server's can hold a NUL, and libpq's strings would end at it.
            if character == "\0" { continue }
            result.unicodeScalars.append(character)
            if Character(character) == quote { result.append(quote) }
        }
        result.append(quote)
        return result
    }
}
