import EventModel
import EventValidation
import GoldenShapes
import TestCases
import Testing

@Suite("Limits of typed events")
struct TypedLimitTests {
    private func problems(_ event: some AnalyticsEvent, context: EventContext = EventContext()) -> [String] {
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
        do throws(InvalidEvent) {
            try builder.append(event, context: context)
            return []
        } catch {
            #expect(builder.count == 0 && builder.byteCount == 0)
            return error.violations.map { violation in
                "\(violation.code.rawValue) \(violation.path) \(violation.location.map { "\($0)" } ?? "-")"
            }
        }
    }

    private func limits(
        code: String = "AB",
        word: String? = nil,
        count: Int = 1,
        share: Double = 0.5,
        price: ExactDecimal = 1,
        tags: [String]? = nil
    ) -> ShapesEvents.LimitsKept {
        ShapesEvents.LimitsKept(code: code, word: word, count: count, share: share, price: price, tags: tags)
    }

    @Test("each violation names the property and the plan's file")
    func eachLimit() throws {
        func expect(_ event: ShapesEvents.LimitsKept, _ code: String, _ property: String, _ path: String? = nil) throws
        {
            let problems = problems(event)
            #expect(problems.count == 1, "\(problems)")
            #expect(problems.first == "\(code) $.payload.\(path ?? property) shapes.plist", "\(problems)")
        }
        #expect(problems(limits(word: "Hello", tags: ["a"])).isEmpty)
        try expect(limits(code: "A"), "too-short", "code")
        try expect(limits(code: "ABCDE"), "too-long", "code")
        try expect(limits(code: "A1"), "pattern-mismatch", "code")
        try expect(limits(word: "goodbye"), "pattern-mismatch", "word")
        try expect(limits(count: 0), "out-of-range", "count")
        try expect(limits(count: 11), "out-of-range", "count")
        try expect(limits(share: 1.5), "out-of-range", "share")
        try expect(limits(share: .nan), "out-of-range", "share")
        try expect(limits(share: -.infinity), "out-of-range", "share")
        try expect(limits(price: 1000), "out-of-range", "price")
        try expect(limits(price: -0.01), "out-of-range", "price")
    }

    @Test("an element is named by its index")
    func element() {
        let problems = problems(limits(tags: ["a", "", "b", ""]))
        #expect(problems.map { $0.split(separator: " ")[1] } == ["$.payload.tags[1]", "$.payload.tags[3]"])
    }

    @Test("a property of an object is named by its path")
    func path() {
        let event = ShapesEvents.OrderShipped(
            address: .init(street: "x", zip: "1", geo: .init(lat: 91, lon: 0)),
            items: [.init(sku: "a", quantity: 1), .init(sku: "b", quantity: 0)]
        )
        #expect(
            problems(event).map { $0.split(separator: " ")[1] }
                == ["$.payload.address.zip", "$.payload.address.geo.lat", "$.payload.items[1].quantity"]
        )
    }

    @Test("NUL characters, which PostgreSQL cannot store, are found everywhere")
    func nul() {
        #expect(problems(limits(word: "hello\0")).first?.hasPrefix("malformed-json $.payload.word") == true)
        let additional = ShapesEvents.AnythingGoes(known: "x", additionalProperties: ["a": 1, "b": "\0"])
        #expect(problems(additional) == ["malformed-json $.payload.b -"])
        let context = EventContext(userID: "\0", attributes: ["\0": 1])
        #expect(
            problems(ShapesEvents.NothingSaid(), context: context) == [
                "malformed-json $.userId -", "malformed-json $.context -",
            ]
        )
    }

    @Test("free-form values must be JSON, and not nested too deeply")
    func free() {
        let infinite = ShapesEvents.AnythingGoes(additionalProperties: ["a": [["b": .number(.infinity)]]])
        #expect(problems(infinite) == ["out-of-range $.payload.a -"])
        var deep = JSONValue.integer(1)
        for _ in 0..<62 { deep = [deep] }
        #expect(problems(ShapesEvents.AnythingGoes(additionalProperties: ["a": deep])).isEmpty)
        #expect(
            problems(ShapesEvents.AnythingGoes(additionalProperties: ["a": [deep]])).first?.hasPrefix("too-deep")
                == true
        )
    }

    @Test("an additional property must not be one that the plan declares")
    func additional() {
        #expect(
            problems(ShapesEvents.AnythingGoes(additionalProperties: ["known": 1])).first?.hasPrefix("malformed-json")
                == true
        )
    }

    @Test("an event takes at most 1 MiB, as over HTTP")
    func size() throws {
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
        try builder.append(ShapesEvents.AnythingGoes(known: ""))
        let rest = (1 << 20) - (builder.byteCount - 1)
        #expect(problems(ShapesEvents.AnythingGoes(known: String(repeating: "x", count: rest))).isEmpty)
        #expect(
            problems(ShapesEvents.AnythingGoes(known: String(repeating: "x", count: rest + 1))) == ["too-large $ -"]
        )
    }

    @Test("at most ten violations are listed, and none shows a value")
    func list() {
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
        var error: InvalidEvent?
        do throws(InvalidEvent) {
            try builder.append(limits(code: "geheim!", tags: Array(repeating: "", count: 50)))
        } catch let invalid {
            error = invalid
        }
        #expect(error?.violations.count == 10)
        #expect(error.map { "\($0)".contains("geheim") } == false)
        #expect(error?.description.contains("(shapes.plist)") == true)
    }

    @Test("an invalid event does not affect the events before and after it")
    func neighbours() throws {
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog)
        try builder.append(limits(code: "AA"))
        var isRefused = false
        do { try builder.append(limits(code: "a")) } catch { isRefused = true }
        #expect(isRefused)
        try builder.append(limits(code: "BB"))
        let finished = builder.finish()
        let batch = try #require(finished)
        #expect(batch.count == 2)
        #expect(String(decoding: batch.line(at: 1), as: UTF8.self).contains(#""code":"BB""#))
        #expect(builder.count == 0)
    }
}
