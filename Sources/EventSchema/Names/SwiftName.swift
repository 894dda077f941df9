/// How the names of events and properties become names in generated Swift.
///
/// Different names mostly become different identifiers: words keep their own capitals beyond the first letter, and an
/// underscore stays where two digits would otherwise meet (`level_1_2` is `level1_2`, `level_12` is `level12`). Names that
/// still meet, such as `item_purchased` and `Item Purchased`, are an error of the plan.
public enum SwiftName {
    /// The type for an event or an object: its words, each with a capital first letter.
    ///
    /// `Item Purchased` becomes `ItemPurchased`, `2nd try` becomes `_2ndTry`, and `Type`, a keyword, is put in backticks.
    public static func type(_ name: String) -> String {
        identifier(NameWords.split(name).map(capitalized))
    }

    /// The property, enum case or argument for a name: as its type, with the first word in lower case.
    ///
    /// `unitPriceGBP` stays, `URLPath` becomes `urlPath`, `Order ID` becomes `orderID`, and `class`, a keyword, is put in
    /// backticks.
    public static func member(_ name: String) -> String {
        let words = NameWords.split(name)
        return identifier([loweredFirstWord(words[0])] + words.dropFirst().map(capitalized))
    }

    private static func identifier(_ words: [String]) -> String {
        var result = ""
        for word in words {
            let digitsMeet =
                result.unicodeScalars.last.map(isDigit) == true && word.unicodeScalars.first.map(isDigit) == true
            result += digitsMeet ? "_" + word : word
        }
        let canBegin = result.unicodeScalars.first?.properties.isXIDStart == true
        if !canBegin { result = "_" + result }
        return keywords.contains(result) ? "`\(result)`" : result
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.numericType != nil
    }

    private static func capitalized(_ word: String) -> String {
        guard let first = word.unicodeScalars.first else { return word }
        return first.properties.titlecaseMapping + String(word.unicodeScalars.dropFirst())
    }

    /// `URL` becomes `url`, `Path` becomes `path`, `IDs` becomes `ids`; what begins in lower case stays.
    private static func loweredFirstWord(_ word: String) -> String {
        let scalars = Array(word.unicodeScalars)
        let isAcronym = scalars.dropFirst().contains { $0.properties.isUppercase }
        guard let first = scalars.first, first.properties.isUppercase || first.properties.isTitlecase else {
            return word
        }
        if isAcronym { return word.lowercased() }
        return first.properties.lowercaseMapping + String(word.unicodeScalars.dropFirst())
    }

    /// The words that Swift takes for itself where a declaration's name is expected, and the names it gives to every type.
    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue",
        "default",
        "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func",
        "guard",
        "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}

extension Unicode.Scalar.Properties {
    fileprivate var isTitlecase: Bool { generalCategory == .titlecaseLetter }
}
