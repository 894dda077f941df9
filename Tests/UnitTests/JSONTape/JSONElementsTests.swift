import JSONTape
import TestCases
import Testing

@Suite("The elements of an array, found without parsing")
struct JSONElementsTests {
    static func elements(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        return ranges(in: bytes)?.map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    /// The elements, found in steps of at most `step` bytes; `nil` if the text is not such a container.
    static func ranges(
        in bytes: [UInt8],
        of container: JSONElementScanner.Container = .array,
        step: Int = .max
    ) -> [Range<Int>]? {
        bytes.withUnsafeBytes { text in
            var scanner = JSONElementScanner(of: container)
            var ranges: [Range<Int>] = []
            while true {
                let limit = step < .max ? scanner.position + step : .max
                switch scanner.next(in: text, limit: limit) {
                case .element(let range): ranges.append(range)
                case .unfinished: continue
                case .end: return ranges
                case .broken: return nil
                }
            }
        }
    }

    @Test(
        "of an object are its members, in steps of any size, and each has a key and a value",
        arguments: [1, 3, .max]
    )
    func members(step: Int) throws {
        let bytes = Array(#" { "a,}" : {"b":[1]} ,"c":"}" } "#.utf8)
        let ranges = try #require(Self.ranges(in: bytes, of: .object, step: step))
        let members = bytes.withUnsafeBytes { text in
            ranges.map { range in
                JSONElements.member(UnsafeRawBufferPointer(rebasing: text[range])).map { key, value in
                    [String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self)]
                }
            }
        }
        #expect(members == [["a,}", #"{"b":[1]}"#], ["c", #""}""#]])
    }

    @Test(
        "that have no key, colon or value are not members",
        arguments: ["", "1", "\"a", "\"a\"", "\"a\" 1", "\"a\":", "a:1"]
    )
    func notMembers(text: String) {
        Array(text.utf8).withUnsafeBytes { text in #expect(JSONElements.member(text) == nil) }
    }

    @Test(
        "of an object are not found if the text is an array, or is not closed",
        arguments: ["[]", "{", "{]", "{\"a\":1", "{}x"]
    )
    func notObjects(text: String) {
        #expect(Self.ranges(in: Array(text.utf8), of: .object) == nil)
    }

    @Test(
        "are the texts between the commas, without white space",
        arguments: [
            ("[]", []), (" [ ] ", []), ("[1]", ["1"]), ("[ 1 , 2\n]", ["1", "2"]),
            ("[[1,2],{\"a\":[3,4]}]", ["[1,2]", "{\"a\":[3,4]}"]),
            (#"["],[","\"],[","\\"]"#, [#""],[""#, #""\"],[""#, #""\\""#]), ("[a b,nonsense]", ["a b", "nonsense"]),
            ("[{]]", ["{]"]),
        ] as [(String, [String])]
    )
    func found(text: String, elements: [String]) {
        #expect(Self.elements(text) == elements)
    }

    @Test(
        "are not found if the text is not an array, or a comma is missing or repeated",
        arguments: [
            "", " ", "{}", "1", "[", "[1", "[1,", "[1,]", "[,1]", "[,]", "[1,,2]", "[1]]", "[1] x", "[\"a]",
            "[\"a\\\"]", "[[1]", "[}", "[1}", "]",
        ]
    )
    func notFound(text: String) {
        #expect(Self.elements(text) == nil)
    }

    @Test(
        "may be empty where the caller allows it",
        arguments: [
            ("[1,,2]", ["1", "", "2"]), ("[,]", ["", ""]), ("[1,]", ["1", ""]), ("[,1]", ["", "1"]), ("[]", []),
            ("[ 1 , , 2 ]", ["1", "", "2"]), ("[ , ]", ["", ""]),
        ] as [(String, [String])]
    )
    func empty(text: String, elements: [String]) {
        let bytes = Array(text.utf8)
        var scanner = JSONElementScanner(allowsEmptyElements: true)
        bytes.withUnsafeBytes { bytes in
            var found: [String] = []
            while case .element(let range) = scanner.next(in: bytes) {
                found.append(String(decoding: bytes[range], as: UTF8.self))
            }
            #expect(found == elements)
            #expect(scanner.next(in: bytes) == .end)
        }
    }

    @Test("are the same however they are written")
    func agreement() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<500 {
            let elements = (0..<source.number(0...6)).map { _ in
                SentText.of(GeneratedEvent.free(&source, depth: 0), allowsNewlines: true, &source)
            }
            let text = "[" + elements.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",") + "]"
            let trimmed = elements.map { element in
                let isSpace = { (byte: UInt8) in " \n\r\t".utf8.contains(byte) }
                return String(
                    decoding: element.drop(while: isSpace).reversed().drop(while: isSpace).reversed(),
                    as: UTF8.self
                )
            }
            #expect(Self.elements(text) == trimmed, "seed \(CaseSource.runSeed)")
            let bytes = Array(text.utf8)
            let inSteps = Self.ranges(in: bytes, step: source.number(1...20))
            #expect(inSteps == Self.ranges(in: bytes), "seed \(CaseSource.runSeed)")
        }
    }

    @Test("are within the text if it is damaged")
    func damaged() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<2000 {
            let bytes = (0..<source.number(0...30)).map { _ in source.pick(Array("[]{},\"\\ 1a".utf8) + [0xFF, 0]) }
            let ranges = Self.ranges(in: bytes) ?? []
            #expect(Self.ranges(in: bytes, step: 1) ?? [] == ranges)
            #expect(ranges.allSatisfy { !$0.isEmpty && $0.upperBound <= bytes.count })
            #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
    }
}
