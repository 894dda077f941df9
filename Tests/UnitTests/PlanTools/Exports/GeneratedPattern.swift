import EventSchema
import PatternMatching
import TestCases

/// RE2 patterns that other engines write differently, and texts that some of them match.
enum GeneratedPattern {
    /// A pattern that RE2 accepts.
    static func make(_ source: inout CaseSource) -> String {
        while true {
            let pattern =
                source.pick(["", "", "(?i)", "(?s)", "(?m)", "(?ms)", "(?U)"]) + alternatives(&source, depth: 0)
            if (try? Pattern(pattern)) != nil { return pattern }
        }
    }

    static func text(_ source: inout CaseSource) -> String {
        let pieces = [
            "a", "b", "A", "k", "K", "\u{212A}", "s", "ſ", "Z", "_", "0", "7", "٣", "-", "]", "[", "{", "}", "^", "$",
            ".",
            "/", "\\", " ", "\n", "\t", "\u{0B}", "\r", "\u{2028}", "\u{85}", "\u{A0}", "é", "😀", "ab", "foo", "&", "~",
        ]
        return (0..<source.number(0...5)).map { _ in source.pick(pieces) }.joined()
    }

    private static func alternatives(_ source: inout CaseSource, depth: Int) -> String {
        (0..<source.pick([1, 1, 1, 2])).map { _ in
            (0..<source.number(depth == 0 ? 1...4 : 0...3)).map { _ in piece(&source, depth: depth) }.joined()
        }
        .joined(separator: "|")
    }

    private static func piece(_ source: inout CaseSource, depth: Int) -> String {
        let repetition =
            source.once(in: 3) ? source.pick(["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}?"]) : ""
        switch source.number(0...(depth > 1 ? 6 : 8)) {
        case 0, 1:
            return source.pick(["a", "b", "k", "S", "0", " ", "-", "&", "~", "]", "}", "{", "{,2}", "😀"]) + repetition
        case 2: return source.pick([#"\d"#, #"\D"#, #"\w"#, #"\W"#, #"\s"#, #"\S"#, "."]) + repetition
        case 3: return source.pick(["^", "$", #"\A"#, #"\z"#, #"\b"#]) + (source.once(in: 4) ? "*" : "")
        case 4:
            let escapes = [
                #"\."#, #"\/"#, #"\-"#, #"\n"#, #"\t"#, #"\v"#, #"\x41"#, #"\x{1F600}"#, #"\101"#, #"\Qa.b\E"#,
            ]
            return source.pick(escapes) + repetition
        case 5, 6: return characterClass(&source) + repetition
        default:
            let opening = source.pick([
                "(", "(?:", "(?P<n\(source.number(0...999_999))>", "(?s:", "(?i:", "(?-i:", "(?m)(",
            ])
            return opening + alternatives(&source, depth: depth + 1) + ")" + repetition
        }
    }

    private static func characterClass(_ source: inout CaseSource) -> String {
        let members = [
            "a", "k", "0-9", "A-Z", "-", "^", "$", ".", "&", "~", "&&", "[", #"\]"#, #"\d"#, #"\W"#, #"\s"#,
            "[:alpha:]",
            "[:^digit:]", "[:space:]", "[:punct:]", #"\x00-\x1f"#, #"\-"#, " ",
        ]
        let listed = (0..<source.number(1...3)).map { _ in source.pick(members) }.joined()
        return (source.once(in: 3) ? "[^" : "[") + listed + "]"
    }
}
