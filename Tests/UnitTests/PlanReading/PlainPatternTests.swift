import EventSchema
import PatternMatching
import TestCases
import Testing

@Suite("Plain patterns, matched without RE2")
struct PlainPatternTests {
    @Test(
        "a sequence of ASCII character classes is a plain pattern",
        arguments: [
            "^$", "^[A-Z]?[0-9]{6}$", "^\\d{4}-\\d{2}-\\d{2}$", "^[a-z0-9_-]+$", "^[-a-c]*$", "^[\\w.]+@x\\.org$",
            "^a{2,}b$",
            "^[+--]{1,3}$", "^[a-z]+[0-9]+$",
        ]
    )
    func plain(source: String) throws {
        _ = try Pattern(source)
        #expect(PlainPattern(source) != nil)
    }

    @Test(
        "any other pattern is left to RE2",
        arguments: [
            "", "abc", "^abc", "abc$", "^abc\\$", "^a|b$", "^(a)$", "^.$", "^[^a]$", "^[[:alpha:]]$", "^é$", "^[a-é]$",
            "^a+?$",
            "^\\pL$", "^\\bword$", "^(?i)a$", "^a{,2}$", "^a{b$", "^^a$", "^a$$", "^\\Qa$",
        ]
    )
    func left(source: String) throws {
        _ = try Pattern(source)
        #expect(PlainPattern(source) == nil)
    }

    @Test(
        "a sequence that can match in more than one way is left to RE2",
        arguments: ["^a*a$", "^[ab]?[bc]?a$", "^\\d+5$"]
    )
    func ambiguous(source: String) {
        #expect(PlainPattern(source) == nil)
    }

    @Test("a plain pattern matches the same texts as RE2", arguments: UInt64(0)..<200)
    func agreement(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let source = Self.pattern(using: &random)
            let pattern = try Pattern(source)
            guard let plain = PlainPattern(source) else { continue }
            for _ in 0..<50 {
                let text = Self.text(using: &random)
                #expect(Self.match(plain, text) == pattern.matches(text), "\(source) on \(text), seed \(seed)")
            }
        }
    }

    @Test("most patterns generated for the comparison with RE2 are plain")
    func coverage() {
        var random = SeededGenerator(seed: 1)
        let plain = (0..<1000).count { _ in PlainPattern(Self.pattern(using: &random)) != nil }
        #expect(plain > 300)
    }

    private static func match(_ pattern: PlainPattern, _ text: String) -> Bool {
        var text = text
        return pattern.steps.withUnsafeBufferPointer { steps in
            text.withUTF8 { PlainPattern.matches(UnsafeRawBufferPointer($0), steps: steps) }
        }
    }

    private static func pattern(using random: inout SeededGenerator) -> String {
        let parts = ["a", "b", "-", "\\.", "\\d", "\\w", "[a-c]", "[b-]", "[0-4x]", "[\\w-]", " "]
        let signs = ["", "", "?", "*", "+", "{2}", "{1,3}", "{0,2}", "{2,}", "{0}"]
        let steps = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            (parts.randomElement(using: &random) ?? "") + (signs.randomElement(using: &random) ?? "")
        }
        return "^" + steps.joined() + "$"
    }

    private static func text(using random: inout SeededGenerator) -> String {
        let characters: [Character] = ["a", "b", "c", "x", "0", "4", "5", "-", ".", " ", "é", "\n", "\0"]
        return String(
            (0..<Int.random(in: 0...6, using: &random)).map { _ in characters.randomElement(using: &random) ?? "a" }
        )
    }
}
