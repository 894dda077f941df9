/// Splits a name of any style into words, for SQL names and Swift names alike.
///
/// A word is a run of letters, digits and combining marks (Unicode's `XID_Continue`, without the underscore); everything
/// else separates. Within such a run a new word begins
///
/// - at an upper-case letter after a lower-case letter or a digit: `invoiceNo` is `invoice`, `No`;
/// - at the last upper-case letter of several when a lower-case one follows: `HTTPServer` is `HTTP`, `Server`; a plural's
///   `s` counts as part of the capitals, so `userIDs` is `user`, `IDs`.
///
/// Digits never begin a word. A name without any word becomes its code points, such as `u1f389`, so that every name has at
/// least one word.
enum NameWords {
    /// The words of a name, in its own upper and lower case; never empty, and no word is.
    static func split(_ name: String) -> [String] {
        let runs = name.unicodeScalars.split { !isPartOfWord($0) }
        let words = runs.flatMap { splitCase(Array($0)) }
        guard words.isEmpty else { return words }
        let codePoints = name.unicodeScalars.map { "u" + String($0.value, radix: 16) }
        return codePoints.isEmpty ? ["u"] : codePoints
    }

    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isXIDContinue && scalar.properties.generalCategory != .connectorPunctuation
    }

    private static func splitCase(_ run: [Unicode.Scalar]) -> [String] {
        var words: [String] = []
        var word = String.UnicodeScalarView()
        for index in run.indices {
            if index > 0, beginsWord(at: index, in: run) {
                words.append(String(word))
                word = String.UnicodeScalarView()
            }
            word.append(run[index])
        }
        words.append(String(word))
        return words
    }

    private static func beginsWord(at index: Int, in run: [Unicode.Scalar]) -> Bool {
        guard isUpper(run[index]) else { return false }
        if !isUpper(run[index - 1]) { return true }
        guard index + 1 < run.count, isLower(run[index + 1]) else { return false }
        let isPlural = run[index + 1] == "s" && (index + 2 == run.count || !isLower(run[index + 2]))
        return !isPlural
    }

    private static func isUpper(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isUppercase || scalar.properties.generalCategory == .titlecaseLetter
    }

    private static func isLower(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isLowercase
    }
}
