/// Derives the names in generated Swift from the names of events and properties.
///
/// Different names usually become different identifiers: words keep their capitals after the first letter, and an
/// underscore separates digits of different words (`level_1_2` is `level1_2`, `level_12` is `level12`). Names that still
/// collide, such as `item_purchased` and `Item Purchased`, are an error in the plan, which `swiftName` resolves.
package enum SwiftName {
    /// The type for an event or an object: its words, each with a capital first letter.
    ///
    /// `Item Purchased` becomes `ItemPurchased`, `2nd try` becomes `_2ndTry`, and `Type`, a keyword, is put in backticks.
    package static func type(_ name: String) -> String {
        identifier(NameWords.split(name).map(capitalized))
    }

    /// The property, enum case or argument for a name: as its type, with the first word in lower case.
    ///
    /// `unitPriceGBP` stays, `URLPath` becomes `urlPath`, `Order ID` becomes `orderID`, and `class`, a keyword, is put in
    /// backticks. `self` and `hashValue`, which every value already has, get an underscore at the end.
    package static func member(_ name: String) -> String {
        let words = NameWords.split(name)
        let member = identifier([loweredFirstWord(words[0])] + words.dropFirst().map(capitalized))
        return ["`self`", "hashValue"].contains(member) ? unescaped(member) + "_" : member
    }

    /// The nested type for a name: as `type`, with an underscore at the end if the name is taken.
    ///
    /// `type` becomes `Type_`, because `Event.Type` means something else; `価格`, whose script has no capitals, becomes
    /// `価格_`, because the property itself is `価格`.
    package static func nestedType(_ name: String) -> String {
        let type = type(name)
        let isTaken = isReserved(unescaped(type)) || type == member(name)
        return isTaken ? unescaped(type) + "_" : type
    }

    /// The case of an enum for one of its values: as the member for its text; of a number, its digits.
    ///
    /// `United Kingdom` becomes `unitedKingdom`, `12` becomes `_12`, `-1.5` becomes `minus1_5`. Names of an enum's own
    /// members get an underscore at the end, and so do `none` and `some`, which are cases of an optional enum.
    package static func enumCase(_ value: PlanValue) -> String {
        let name =
            switch value {
            case .string(let text) where isNumber(text): numberWords(text)
            case .string(let text): text
            case .boolean(let truth): truth ? "true" : "false"
            default: numberWords(value.text)
            }
        let member = member(name)
        return isTakenCase(member) ? member + "_" : member
    }

    /// Whether a member of every generated enum, or a case of an optional enum, already has the name.
    package static func isTakenCase(_ name: String) -> Bool {
        ["allCases", "none", "ordinal", "rawValue", "some"].contains(name)
    }

    private static func isNumber(_ text: String) -> Bool {
        text.unicodeScalars.contains { ("0"..."9").contains($0) }
            && text.unicodeScalars.allSatisfy { ("0"..."9").contains($0) || $0 == "." || $0 == "-" }
    }

    private static func numberWords(_ text: String) -> String {
        text.hasPrefix("-") ? "minus" + text.dropFirst() : text
    }

    /// Whether the text is a valid Swift identifier, with backticks if it is a keyword.
    package static func isIdentifier(_ text: String) -> Bool {
        let scalars = text.unicodeScalars
        guard let first = scalars.first, first == "_" || first.properties.isXIDStart else { return false }
        return scalars.allSatisfy { $0.properties.isXIDContinue } && scalars.contains { $0 != "_" }
    }

    /// Whether generated code uses the name itself, so that the plan cannot.
    package static func isReserved(_ name: String) -> Bool {
        let reserved: Set = [
            "self", "Self", "Type", "Protocol", "Any", "init", "hashValue", "rawValue", "RawValue", "allCases",
            "AllCases",
            "ordinal", "Swift", "Sluice",
        ]
        return reserved.contains(name)
    }

    /// The name, in backticks if it is a keyword.
    package static func escaped(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    /// An escaped name as it is written after a dot, where few keywords need backticks.
    package static func afterDot(_ name: String) -> String {
        let bare = unescaped(name)
        return ["Protocol", "Type", "init", "self"].contains(bare) ? name : bare
    }

    /// The name without backticks.
    package static func unescaped(_ name: String) -> String {
        name.filter { $0 != "`" }
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
        return escaped(result)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.numericType != nil
    }

    private static func capitalized(_ word: String) -> String {
        guard let first = word.unicodeScalars.first else { return word }
        return first.properties.titlecaseMapping + String(word.unicodeScalars.dropFirst())
    }

    /// `URL` becomes `url`, `Path` becomes `path`, `IDs` becomes `ids`; words in lower case stay.
    private static func loweredFirstWord(_ word: String) -> String {
        let scalars = Array(word.unicodeScalars)
        let isAcronym = scalars.dropFirst().contains { $0.properties.isUppercase }
        guard let first = scalars.first, first.properties.isUppercase || first.properties.isTitlecase else {
            return word
        }
        if isAcronym { return word.lowercased() }
        return first.properties.lowercaseMapping + String(word.unicodeScalars.dropFirst())
    }

    /// The keywords that cannot name a declaration without backticks, and the members that every type has.
    private static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "await", "break", "case", "catch", "class",
        "continue",
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
