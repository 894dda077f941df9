import EventValidation
import TestCases
import TestPromises
import Testing

@Suite("A body checked in turns")
struct TurnTests {
    /// The result for a body, without the generated ids.
    struct Outcome: Equatable {
        var lines: [String] = []
        var rejections: [String] = []
        var indexes: [ClosedRange<Int>] = []
        var problem = ""

        init(_ check: () throws -> CheckedBody) {
            do {
                let checked = try check()
                lines = checked.lines.map { String($0.dropFirst(45)) }
                rejections = checked.rejections.map { "\($0.index) \($0.violations) \($0.original)" }
                indexes = checked.rejected.indexes
            } catch let error as MalformedBody {
                problem = error.violation.summary
            } catch {
                problem = "\(error)"
            }
        }
    }

    /// The bytes of a body at a fixed address.
    final class Text {
        let bytes: UnsafeRawBufferPointer

        init(_ text: String) {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
            copy.copyBytes(from: text.utf8)
            bytes = UnsafeRawBufferPointer(copy)
        }

        deinit { bytes.deallocate() }
    }

    /// A body whose check is in progress.
    struct Half: ~Copyable {
        private let text: Text
        private let validator: EventValidator
        private var progress: BodyProgress

        init(_ text: String, _ format: BodyFormat, _ validator: EventValidator) {
            self.text = Text(text)
            self.validator = validator
            progress = validator.begin(bodyOf: text.utf8.count, as: format)
        }

        mutating func turn(_ budget: inout CheckBudget) throws -> Bool {
            try validator.check(text.bytes, from: &progress, within: &budget)
        }

        /// Continues in turns with this `budget` until the check is complete, and returns the number of turns.
        ///
        /// `look` is called after each turn with the rest of its budget.
        mutating func turns(
            of budget: CheckBudget,
            atMost limit: Int = 1_000,
            _ look: (CheckBudget) -> Void = { _ in }
        ) throws -> Int {
            for number in 1...limit {
                var rest = budget
                let isAtEnd = try turn(&rest)
                look(rest)
                if isAtEnd { return number }
            }
            return try #require(nil, "it is not at its end after \(limit) turns")
        }

        consuming func finish() -> CheckedBody {
            let validator = validator
            return validator.finish(progress)
        }
    }

    private static func bodies(_ source: inout CaseSource) -> (text: String, format: BodyFormat) {
        let parts = [
            Sent.ping(), Sent.purchase(), "{}", "5", Sent.open("\"a\":\"\(String(repeating: "x", count: 300))\""),
            Sent.purchase(#","colour":1"#), #"{"name":"ping"}"#,
        ]
        let broken = ["{", "{,}", Sent.open("\"a\":1e999"), "\"open", "[", "tru"]
        var events = (0..<source.number(1...60)).map { _ in parts[source.number(0...parts.count - 1)] }
        if source.number(0...1) == 0 { events[source.number(0...events.count - 1)] = broken[source.number(0...5)] }
        switch source.number(0...3) {
        case 0: return (events.joined(separator: "\n"), .lines)
        case 1: return ("[" + events.joined(separator: ",") + "]", .document)
        case 2:
            let large = Sent.open("\"x\":\"\(String(repeating: "x", count: 270 << 10))\"")
            return ("[" + (events + [large] + events).joined(separator: " ,\n") + "]", .document)
        default: return ((events + ["", " "]).joined(separator: "\r\n"), .lines)
        }
    }

    @Test("has the same result as in one turn, wherever it was interrupted", .promise("large-bodies"))
    func agreement() throws {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<300 {
            let (text, format) = Self.bodies(&source)
            let whole = Outcome { try EventValidator.sample().check(text, as: format) }
            let validator = EventValidator.sample()
            let inTurns = Outcome {
                var half = Half(text, format, validator)
                while true {
                    let bytes = source.number(1...400)
                    var budget = CheckBudget(bytes: bytes, rejections: source.number(1...3))
                    if try half.turn(&budget) { break }
                    // The same validator is in the middle of another body meanwhile.
                    #expect(try validator.check(Sent.ping()).count == 1)
                }
                return half.finish()
            }
            #expect(inTurns == whole, "seed \(CaseSource.runSeed)")
        }
    }

    @Test("rejects at most the number of events in its budget in a turn, and takes the corresponding number of turns")
    func rejections() throws {
        let events = Array(repeating: #"{"name":"Nothing"}"#, count: 9990)
        for (text, format) in [
            ("[" + events.joined(separator: ",") + "]", BodyFormat.document), (events.joined(separator: "\n"), .lines),
        ] {
            var half = Half(text, format, .sample())
            let turns = try half.turns(of: CheckBudget(bytes: .max, rejections: 100)) { #expect($0.rejections >= 0) }
            #expect((100...101).contains(turns))
            #expect(half.finish().rejected.count == 9990)
        }
    }

    @Test("exceeds the bytes of its budget in a turn by at most one event or one piece of lines")
    func bytes() throws {
        let events = Array(repeating: Sent.purchase(), count: 12_000)
        let piece = 64 << 10
        for (text, format) in [
            ("[" + events.joined(separator: ",") + "]", BodyFormat.document), (events.joined(separator: "\n"), .lines),
        ] {
            var half = Half(text, format, .sample())
            let turns = try half.turns(of: CheckBudget(bytes: 100_000, rejections: 1)) { #expect($0.bytes > -piece) }
            #expect(turns >= text.utf8.count / (100_000 + piece))
            #expect(half.finish().batch?.count == 12_000)
        }
    }

    @Test("with one long element is not scanned in one turn")
    func longElement() throws {
        let text = "[\"" + String(repeating: "x", count: 1 << 20) + "\"]"
        var half = Half(text, .document, .sample())
        let turns = try half.turns(of: CheckBudget(bytes: 100_000, rejections: 10))
        #expect(turns >= 10)
        #expect(half.finish().rejected.codes == [.tooLarge: 1])
    }
}
