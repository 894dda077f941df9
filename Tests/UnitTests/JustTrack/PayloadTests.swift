import Foundation
import JustTrack
import Testing

@Suite("JustTrack: payloads", .timeLimit(.minutes(5))) struct PayloadTests {
    private let sample = TrackingSample()
    private let tracker = KeepingTracker()

    /// The payload that the tracker receives for a tracked payload.
    private func passed(_ payload: Payload) async throws -> Payload {
        let tracking = sample.tracking(trackers: tracker)
        #expect(tracking.trackEvent(SampleEvent(payload: payload, trackers: "keeping")))
        await tracking.flush()
        #expect(sample.errors == [])
        return try #require(tracker.payloads.first)
    }

    private func expectSame<Value: Equatable>(_ value: Value, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let passed = try #require(try await passed(["value": value])["value"], sourceLocation: sourceLocation)
        #expect(type(of: passed) == Value.self, sourceLocation: sourceLocation)
        #expect(passed as? Value == value, sourceLocation: sourceLocation)
    }

    @Test("a string is delivered unchanged", arguments: ["", "a", "\"\\\n\t\u{1}\u{7F}", "Zoë 日本 🙂", "$date"])
    func text(text: String) async throws {
        try await expectSame(text)
    }

    @Test("an Int is delivered unchanged", arguments: [0, -1, 42, .max, .min])
    func integers(number: Int) async throws {
        try await expectSame(number)
    }

    @Test(
        "a Double is delivered unchanged, with or without a fraction",
        arguments: [
            0, 3, -0.0, 0.1, -2.55, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, .pi, .greatestFiniteMagnitude,
        ]
    )
    func doubles(number: Double) async throws {
        try await expectSame(number)
    }

    @Test("NaN is delivered as NaN")
    func notANumber() async throws {
        #expect((try await passed(["value": Double.nan])["value"] as? Double)?.isNaN == true)
    }

    @Test("a Boolean is delivered unchanged, and not as a number", arguments: [true, false])
    func truthValues(truth: Bool) async throws {
        try await expectSame(truth)
    }

    @Test("a number of any type is delivered with that type")
    func kindsOfNumbers() async throws {
        let payload: Payload = [
            "a": Int8.min, "b": Int16.max, "c": Int32.min, "d": Int64.max, "e": UInt8.max, "f": UInt16.max,
            "g": UInt32.max, "h": UInt64.max, "i": UInt.max, "j": Float(0.1), "k": Float(2),
            "l": CGFloat(0.1), "m": CGFloat(2), "n": CGFloat.infinity,
        ]
        let passed = try await passed(payload)
        #expect(passed.count == payload.count)
        for (key, value) in payload {
            let found = try #require(passed[key])
            #expect(type(of: found) == type(of: value))
            #expect(found as? AnyHashable == value as? AnyHashable)
        }
    }

    @Test("dates, data, URLs, UUIDs and decimals are delivered unchanged")
    func otherKinds() async throws {
        let date = Date(timeIntervalSinceReferenceDate: 733_000_000.123_456_7)
        let id = UUID()
        let url = try #require(URL(string: "https://example.com/a?b=c#d"))
        let decimal = try #require(Decimal(string: "12345678901234567890.123456789"))
        let passed = try await passed([
            "date": date, "data": Data([0, 1, 255]), "url": url, "id": id, "decimal": decimal,
        ])
        #expect(passed["date"] as? Date == date)
        #expect(passed["data"] as? Data == Data([0, 1, 255]))
        #expect(passed["url"] as? URL == url)
        #expect(passed["id"] as? UUID == id)
        #expect(passed["decimal"] as? Decimal == decimal)
    }

    @Test("arrays and dictionaries are delivered unchanged, even those that look like tagged values")
    func nesting() async throws {
        let passed = try await passed([
            "array": [1, "a", [true, NSNull()]] as [Any], "empty": [String](), "none": [String: Any](),
            "deep": ["a": ["b": ["c": 1.0]]], "tagged": ["$date": "1"], "twice": ["$dictionary": ["$date": "x"]],
            "mixed": ["$dictionary": ["$date": "x"], "b": 1] as [String: Any], "unknown": ["$me": "1"],
        ])
        let array = try #require(passed["array"] as? [Any])
        #expect(array[0] as? Int == 1 && array[1] as? String == "a")
        #expect((array[2] as? [Any])?.first as? Bool == true && (array[2] as? [Any])?.last is NSNull)
        #expect(passed["empty"] as? [String] == [])
        #expect((passed["none"] as? [String: Any])?.isEmpty == true)
        #expect(passed["deep"] as? [String: [String: [String: Double]]] == ["a": ["b": ["c": 1.0]]])
        #expect(passed["tagged"] as? [String: String] == ["$date": "1"])
        #expect(passed["twice"] as? [String: [String: String]] == ["$dictionary": ["$date": "x"]])
        let mixed = try #require(passed["mixed"] as? [String: Any])
        #expect(mixed["$dictionary"] as? [String: String] == ["$date": "x"] && mixed["b"] as? Int == 1)
        #expect(passed["unknown"] as? [String: String] == ["$me": "1"])
    }

    @Test("a Substring is delivered as a String, even in arrays and dictionaries")
    func partsOfTexts() async throws {
        let parts = "a,b".split(separator: ",")
        let passed = try await passed(["part": parts[1], "parts": parts, "deep": ["part": parts[0]]])
        #expect(passed["part"] as? String == "b")
        #expect(passed["parts"] as? [String] == ["a", "b"])
        #expect(passed["deep"] as? [String: String] == ["part": "a"])
    }

    @Test("a payload with one key that looks like a tag is delivered unchanged")
    func taggedPayload() async throws {
        #expect(try await passed(["$date": "1"])["$date"] as? String == "1")
    }

    @Test("numbers in NSNumber objects are delivered as numbers, and a missing optional as NSNull")
    func objects() async throws {
        let absent: String? = nil
        let present: String? = "a"
        let passed = try await passed([
            "truth": NSNumber(value: true), "whole": NSNumber(value: 7), "fraction": NSNumber(value: 0.5),
            "large": NSNumber(value: UInt64.max), "decimal": NSDecimalNumber(string: "1.5"),
            "absent": absent as Any, "present": present as Any, "null": NSNull(), "text": NSString(string: "b"),
        ])
        #expect(passed["truth"] as? Bool == true)
        #expect(passed["whole"] as? Int == 7)
        #expect(passed["fraction"] as? Double == 0.5)
        #expect(passed["large"] as? UInt64 == .max)
        #expect(passed["decimal"] as? Decimal == 1.5)
        #expect(passed["absent"] is NSNull && passed["null"] is NSNull)
        #expect(passed["present"] as? String == "a" && passed["text"] as? String == "b")
    }

    @Test("a payload that cannot be stored is refused, and the error names its key path, but no value")
    func unstorable() async throws {
        struct Secret { let text = "hidden" }
        let tracking = sample.tracking(trackers: tracker)
        var deep: [String: Any] = ["secret": "hidden"]
        for _ in 0..<100 { deep = ["deeper": deep] }
        for payload: Payload in [
            ["list": [["inner": Secret()]]], ["numbers": [1: "hidden"]], ["text": "hidden\0"], deep,
            ["large": String(repeating: "hidden", count: 1 << 18)],
        ] {
            #expect(!tracking.trackEvent(SampleEvent(payload: payload, trackers: "keeping")))
        }
        await tracking.flush()
        #expect(tracker.payloads.isEmpty)
        #expect(sample.errors.count == 5)
        #expect(sample.errors.first?.contains("'list.0.inner' in the payload is a Secret") == true)
        #expect(!sample.errors.joined().contains("hidden"))
    }
}
