import EventValidation
import TestCases
import Testing

@Suite("A validator")
struct ReuseTests {
    static let bodies = [
        Sent.ping(), Sent.purchase(), "[]", "null", "[\(Sent.ping()),{},\(Sent.purchase(#","total":1.10"#))]",
        Sent.purchase(#","colour":1"#), "[\(Sent.open("\"a\":1e999")),\(Sent.ping())]",
        Sent.open("\"x\":\"\(String(repeating: "long ", count: 3000))\""), "{", Sent.ping(#","id":"first","userId":1"#),
        "5",
        Sent.purchase(#","lines":[{"name":"a"},{"name":"b","count":2}]"#),
    ]

    /// The result for a body, without the generated ids.
    static func summary(of body: String, by validator: EventValidator) -> [String] {
        do {
            let checked = try validator.check(body)
            return checked.lines.map { String($0.dropFirst(45)) } + checked.rejections.map { "\($0)" }
        } catch let error as MalformedBody {
            return [error.violation.summary]
        } catch {
            return ["\(error)"]
        }
    }

    @Test("gives the same result for a body as a new one, after thousands of others")
    func thousands() {
        let fresh = Self.bodies.map { Self.summary(of: $0, by: .sample()) }
        let validator = EventValidator.sample()
        var source = CaseSource(seed: 7)
        for _ in 0..<4000 {
            let place = source.number(0...Self.bodies.count - 1)
            #expect(Self.summary(of: Self.bodies[place], by: validator) == fresh[place])
        }
    }

    @Test("leaves nothing of a rejected event in the batch, wherever the violation is")
    func nothingLeft() throws {
        let bad = [
            Sent.purchase(#","size":"huge""#), Sent.ping(#","context":{"a":"x","a":1}"#),
            Sent.open("\"x\":[1,2,\"\\u0000\"]"),
            Sent.ping(#","payload":7"#), Sent.purchase(#","lines":[{"name":"a"},{}]"#), Sent.ping(#","id":7"#), "{}",
        ]
        let good = [Sent.ping(), Sent.purchase(), Sent.open("\"x\":1")]
        let alone = try EventValidator.sample().check("[\(good.joined(separator: ","))]")
        for event in bad {
            let mixed = "[" + good.map { "\(event),\($0)" }.joined(separator: ",") + ",\(event)]"
            let checked = try EventValidator.sample().check(mixed)
            #expect(checked.lines.map { $0.dropFirst(45) } == alone.lines.map { $0.dropFirst(45) })
            #expect(checked.batch?.byteCount == alone.batch?.byteCount)
            #expect(checked.rejections.map(\.index) == [0, 2, 4, 6])
        }
    }

    @Test("gives no batch if no event is valid")
    func noBatch() throws {
        #expect(try EventValidator.sample().check("[5,6]").batch == nil)
    }

    @Test("does not retain its batches")
    func batchFreed() throws {
        let validator = EventValidator.sample()
        weak var batch: EventBatch?
        var line: [UInt8] = []
        try {
            let checked = try validator.check(Sent.purchase())
            batch = checked.batch
            _ = try validator.check(Sent.open("\"x\":2"))
            line = checked.batch.map { Array($0.line(at: 0)) } ?? []
        }()
        #expect(batch == nil)
        #expect(String(decoding: line, as: UTF8.self).hasSuffix(#"{"sku":"AB","quantity":1,"price":2.5}}"#))
    }
}
