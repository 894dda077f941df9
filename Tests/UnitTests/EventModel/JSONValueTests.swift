@_spi(CanonicalJSON) import EventModel
import Testing

@Suite("The encoding of values that no plan describes")
struct JSONValueTests {
    private func encoded(_ value: JSONValue, depth: Int = 1) -> (text: String, problems: [String]) {
        var output = ByteBuilder(capacity: 64)
        let problems = output.append(value, depth: depth).map { "\($0.kind) \($0.path)" }
        return (String(decoding: output.bytes, as: UTF8.self), problems)
    }

    @Test("orders the members of objects by the UTF-8 of their keys")
    func order() {
        let (text, problems) = encoded(["b": [1, -2.5, nil, true], "ä": "\"", "": [:], "B": [:]])
        #expect(text == #"{"":{},"B":{},"b":[1,-2.5,null,true],"ä":"\""}"#)
        #expect(problems == [])
    }

    @Test("names the parts that cannot be stored, by their paths")
    func problems() {
        let value: JSONValue = ["a": [1, .number(.nan)], "b c": ["d": "\0"], "\0": nil]
        #expect(encoded(value).problems == [#"nul ['\u0000']"#, "notFinite .a[1]", "nul ['b c'].d"])
        #expect(encoded(.number(.infinity)).problems == ["notFinite "])
    }

    @Test("reports the same problem at most as often as an event lists violations")
    func limit() {
        let value = JSONValue.array(Array(repeating: "\0", count: 100))
        #expect(encoded(value).problems.count == EventLimits.maximumViolations)
    }

    @Test("allows as many levels as an event may have")
    func depth() {
        let most = EventLimits.maximumDepth
        #expect(encoded([[1]], depth: most - 2).problems == [])
        #expect(encoded([[1]], depth: most - 1).problems == ["tooDeep [0]"])
        #expect(encoded(["a": 1], depth: most).problems == ["tooDeep "])
        #expect(encoded(1, depth: most).problems == [])
    }
}
