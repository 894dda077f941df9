/// Translates the plan's patterns to the syntax that ECMAScript (with the flag `u`) and Python's `re` share.
///
/// The plan's patterns have RE2's syntax. Everything that the other engines write or interpret differently is rewritten,
/// even `$`, because Python's also matches before a trailing newline. Both engines backtrack, so they may take longer than
/// RE2, which matches in linear time.
enum PortablePattern {
    /// The end of the text, in both engines.
    static let end = #"(?![\s\S])"#

    /// The equivalent pattern, or `nil` if the other engines cannot express it.
    ///
    /// They lack Unicode classes (`\pL`), single bytes (`\C`, and `\B`, which matches between bytes), and RE2's case folding of
    /// letters outside ASCII.
    static func translation(of source: String) -> String? {
        var translator = PatternTranslator(source)
        return try? translator.translate()
    }
}

/// Translates a pattern that RE2 accepts, piece by piece.
struct PatternTranslator {
    struct Untranslatable: Error {}

    /// The flags `(?ims)`; `U` (ungreedy) is ignored, because it does not affect whether a text matches.
    struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotMatchesNewline = false
    }

    /// A piece of a pattern, by how it can be repeated.
    private enum Piece {
        /// Characters or a group.
        case atom(String)
        /// An assertion such as `^`, which must be in a group to be repeated.
        case place(String)
        /// Flags, or the end of their scope.
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

    /// Translates everything up to the end of the group or of the pattern.
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
        // RE2's `\B` also matches between the bytes of a character.
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

    /// Text between `\Q` and `\E` is literal; a repetition after it applies to the last character.
    private mutating func quotation() throws(Untranslatable) -> Piece {
        let scalars = reader.takeQuotation()
        guard let last = scalars.last else { return .nothing }
        var text = ""
        for scalar in scalars.dropLast() { text += try literal(scalar.value) }
        return .atom(text + (try literal(last.value)))
    }

    /// Word boundaries, which in RE2 consider only ASCII.
    private static let wordBoundary: String = {
        let word = ScalarSet.wordCharacters.expression
        return "(?:(?<=\(word))(?!\(word))|(?<!\(word))(?=\(word)))"
    }()

    // MARK: Groups

    private mutating func group() throws(Untranslatable) -> Piece {
        let outer = flags
        if reader.take("?") {
            if reader.takeGroupName() {
                // The name of a group does not affect what it matches.
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
