import JSONTape
import TestCases
import Testing

@Suite("The numbers of a document as they were written")
struct NumberTokensTests {
    /// Every number of a document as it is written in the text.
    static func tokens(_ text: [UInt8]) throws -> [String] {
        var parser = JSONParser()
        return try withPadded(text) { bytes in
            let tape = try parser.parse(bytes)
            let numbers = NumberTokens(tape)
            var (found, index) = ([String](), tape.root)
            let end = tape.end(of: tape.root)
            while index < end {
                let isNumber = tape.kind(at: index).isNumber
                let token = String(decoding: numbers.text(at: index), as: UTF8.self)
                if isNumber { found.append(token) } else { #expect(token.isEmpty) }
                index += isNumber ? 2 : 1
            }
            return found
        }
    }

    @Test("are found among keys and strings that look like numbers")
    func found() throws {
        let text = #" {"1":-1.50 ,"2":["3",4e+5,{"-6":"7,8","9":0.10}],"10":"\"11" , "12":[-0],"13":true , "14": 15 } "#
        #expect(try Self.tokens(Array(text.utf8)) == ["-1.50", "4e+5", "0.10", "-0", "15"])
        #expect(try Self.tokens(Array("-12.5e-3".utf8)) == ["-12.5e-3"])
        #expect(try Self.tokens(Array("[]".utf8)) == [])
    }

    @Test("are the same as those of a second parser, in any document")
    func agreement() throws {
        func numbers(_ value: ReferenceJSON) -> [String] {
            switch value {
            case .number(let text): [text]
            case .array(let elements): elements.flatMap(numbers)
            case .object(let members): members.flatMap { numbers($0.value) }
            default: []
            }
        }
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<600 {
            let value = ReferenceJSON.array((0..<4).map { _ in GeneratedEvent.free(&source, depth: 0) })
            let text = SentText.of(value, allowsNewlines: true, &source)
            guard case .value = ReferenceParser.parse(text) else { continue }
            #expect(try Self.tokens(text) == numbers(value), "seed \(CaseSource.runSeed)")
        }
    }
}
