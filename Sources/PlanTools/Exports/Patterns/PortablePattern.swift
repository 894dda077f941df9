/// Patterns of the plan in the regular expressions that ECMAScript (with its flag `u`) and Python's `re` share.
///
/// The plan's are RE2's. What the others write in another way is rewritten, down to the end of a text: Python's `$`
/// stands before a last newline, too. Both engines backtrack, so that what RE2 matches in linear time may take them
/// longer.
enum PortablePattern {
    /// The end of a text, for both.
    static let end = #"(?![\s\S])"#

    /// The same pattern, or `nil` where it says something that the others cannot: Unicode's classes (`\pL`), single
    /// bytes (`\C`, and `\B`, which is found between them), other letters than ASCII's without regard to case.
    static func translation(of source: String) -> String? {
        var translator = PatternTranslator(source)
        return try? translator.translate()
    }
}

/// Reads a pattern that RE2 takes and writes it anew, piece by piece.
struct PatternTranslator {
    struct Untranslatable: Error {}

    /// `(?ims)`; how greedy a repetition is decides only about what is matched, not whether.
    struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotMatchesNewline = false
    }

    /// A piece that a repetition may follow.
    private enum Piece {
        /// Characters or a group.
        case atom(String)
        /// A place between characters, which only a group can repeat.
        case place(String)
        /// Flags, or an end of what they hold for.
        case nothing
    }

    private var reader: PatternReader
    private var flags = Flags()

    init(_ source: String) {
        reader = PatternReader(source)
    }

    mutating func translate() throws(Untranslatable) -> String {
        let text = try alternatives()
        guard reader.isAtEnd else { throw Untranslatable() }
        return text
    }

    /// All up to the end of the group, or of the pattern.
    private mutating func alternatives() throws(Untranslatable) -> String {
        var text = ""
        while let next = reader.next, next != ")" {
            if reader.take("|") {
                text += "|"
            } else {
                text += try repeatedPiece()
            }
        }
        return text
    }

    private mutating func repeatedPiece() throws(Untranslatable) -> String {
        switch try piece() {
        case .nothing: return ""
        case .atom(let text): return text + reader.takeRepetition()
        case .place(let text):
            let repetition = reader.takeRepetition()
            return repetition.isEmpty ? text : "(?:\(text))\(repetition)"
        }
    }

    private mutating func piece() throws(Untranslatable) -> Piece {
        guard let scalar = reader.takeNext() else { throw Untranslatable() }
        switch scalar {
        case "(": return try group()
        case "[": return .atom(try reader.takeClass(ignoringCase: flags.ignoresCase).expression)
        case "\\": return try escape()
        case ".": return .atom((flags.dotMatchesNewline ? .all : ScalarSet.newline.complement).expression)
        case "^": return .place(flags.isMultiline ? #"(?<![^\n])"# : "^")
        case "$": return .place(flags.isMultiline ? #"(?![^\n])"# : PortablePattern.end)
        default: return .atom(try literal(scalar.value))
        }
    }

    // MARK: Characters

    private func literal(_ value: UInt32) throws(Untranslatable) -> String {
        guard flags.ignoresCase else { return ScalarSet.literal(value) }
        guard let folded = ScalarSet([value...value]).foldingCase else { throw Untranslatable() }
        return folded.ranges == [value...value] ? ScalarSet.literal(value) : folded.expression
    }

    private mutating func escape() throws(Untranslatable) -> Piece {
        switch reader.next {
        case "A": return place("^")
        case "z": return place(PortablePattern.end)
        case "b": return place(Self.wordBoundary)
        // RE2 finds one between the bytes of a character, too.
        case "B": throw Untranslatable()
        case "Q":
            _ = reader.takeNext()
            return try quotation()
        default:
            switch try reader.takeEscape(ignoringCase: flags.ignoresCase) {
            case .scalar(let value): return .atom(try literal(value))
            case .set(let set): return .atom(set.expression)
            }
        }
    }

    private mutating func place(_ text: String) -> Piece {
        _ = reader.takeNext()
        return .place(text)
    }

    /// Between `\Q` and `\E` all stands for itself; a repetition behind it is for the last character.
    private mutating func quotation() throws(Untranslatable) -> Piece {
        let scalars = reader.takeQuotation()
        guard let last = scalars.last else { return .nothing }
        var text = ""
        for scalar in scalars.dropLast() { text += try literal(scalar.value) }
        return .atom(text + (try literal(last.value)))
    }

    /// RE2's words are ASCII's.
    private static let wordBoundary: String = {
        let word = ScalarSet.wordCharacters.expression
        return "(?:(?<=\(word))(?!\(word))|(?<!\(word))(?=\(word)))"
    }()

    // MARK: Groups

    private mutating func group() throws(Untranslatable) -> Piece {
        let outer = flags
        if reader.take("?") {
            if reader.takeGroupName() {
                // What a group is called makes no difference to what it matches.
            } else if try reader.takeFlags(&flags) {
                return .nothing
            }
        }
        let inner = try alternatives()
        guard reader.take(")") else { throw Untranslatable() }
        flags = outer
        return .atom("(?:\(inner))")
    }
}
