import EventSchema
import PatternMatching
import TestCases
import Testing

@Suite("Patterns matched by RE2")
struct PatternTests {
    @Test("a pattern matches anywhere unless it is anchored")
    func unanchored() throws {
        let anywhere = try Pattern("[0-9]{2}")
        #expect(anywhere.matches("ab12cd"))
        #expect(!anywhere.matches("ab1cd"))
        let anchored = try Pattern("^[0-9]{2}$")
        #expect(anchored.matches("12"))
        #expect(!anchored.matches("12\n"))
        #expect(!anchored.matches("a12"))
    }

    @Test("an empty text has no bytes and can still match")
    func empty() throws {
        let pattern = try Pattern("^$")
        #expect(pattern.matches(UnsafeRawBufferPointer(start: nil, count: 0)))
        #expect(pattern.matches(""))
        #expect(try !Pattern("a").matches(UnsafeRawBufferPointer(start: nil, count: 0)))
        #expect(try Pattern("").matches("anything"))
    }

    @Test("a dot is a code point, not a byte")
    func codePoints() throws {
        #expect(try Pattern("^.$").matches("é"))
        #expect(try Pattern("^\\p{Greek}+$").matches("Ωμέγα"))
    }

    @Test(
        "a pattern that RE2 cannot parse is an error with RE2's message",
        arguments: [
            ("(abc", "missing ): (abc"),
            ("[z-a]", "invalid character class range: z-a"),
            ("(?=a)", "invalid perl operator: (?="),
            ("a{1001}", "invalid repetition size: {1001}"),
        ]
    )
    func refused(source: String, reason: String) {
        let error = #expect(throws: PatternError.self) { try Pattern(source) }
        #expect(error?.reason == reason)
    }

    @Test("a pattern that exceeds the memory limit is an error")
    func tooLarge() {
        #expect(throws: PatternError.self) { try Pattern("((((a{100}){100}){100}){100})") }
    }

    @Test("deep nesting in a pattern does not crash")
    func deep() throws {
        let groups = String(repeating: "(", count: 100_000) + "a" + String(repeating: ")", count: 100_000)
        #expect(try Pattern(groups).matches("a"))
        let stars = String(repeating: "(?:", count: 100_000) + "a" + String(repeating: "b)*", count: 100_000)
        #expect(try Pattern(stars).matches("ab"))
    }

    @Test("a pattern that causes catastrophic backtracking elsewhere matches in linear time")
    func linearTime() throws {
        let pattern = try Pattern("^(a+)+$")
        let text = String(repeating: "a", count: 200_000) + "!"
        let clock = ContinuousClock()
        let elapsed = clock.measure { #expect(!pattern.matches(text)) }
        #expect(elapsed < .seconds(5))
    }

    @Test("one pattern can be used by many threads at once")
    func threads() async throws {
        let pattern = try Pattern("^[a-z]+[0-9]+$")
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask { pattern.matches("abc\(index)") && !pattern.matches("\(index)abc") }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
