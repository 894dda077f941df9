import EventModel
import EventPipeline
import EventValidation
import GoldenShapes
import SluiceTesting
import Testing

@Suite("RecordingTracker", .timeLimit(.minutes(5)))
struct RecordingTrackerTests {
    private let recorder = RecordingTracker(name: "console")

    private func run(_ body: (Pipeline) async throws -> Void) async throws {
        try await Pipeline.run(catalog: ShapesEvents.catalog, trackers: [recorder], body)
    }

    @Test("the received events of a type equal the tracked ones, in order")
    func typed() async throws {
        let first = ShapesEvents.LimitsKept(code: "AB", count: 1, share: 0.5, price: 19.90)
        let second = ShapesEvents.LimitsKept(code: "CD", word: "hello", count: 2, share: 1, price: 0, tags: ["a"])
        try await run { pipeline in
            try await pipeline.track(first)
            try await pipeline.track(ShapesEvents.NothingSaid())
            try await pipeline.track(second)
        }
        let received = try recorder.events(ShapesEvents.LimitsKept.self)
        #expect(received == [first, second])
        #expect(received != [second, first])
        #expect(received != [first])
        #expect(received != [first, second, second])
        #expect(try recorder.events(ShapesEvents.NothingSaid.self) == [ShapesEvents.NothingSaid()])
        #expect(try recorder.events(ShapesEvents.ChoiceMade.self).isEmpty)
    }

    @Test("values that are written differently are equal if they are encoded in the same way")
    func sameEncoding() async throws {
        let event = ShapesEvents.AnythingGoes(known: "x", additionalProperties: ["b": 1, "a": [nil, 1.5, "\"ü\n"]])
        try await run { try await $0.track(event) }
        let same = ShapesEvents.AnythingGoes(known: "x", additionalProperties: ["a": [nil, 1.5, "\"ü\n"], "b": 1.0])
        let other = ShapesEvents.AnythingGoes(known: "x", additionalProperties: ["a": [nil, 1.5, "\"u\n"], "b": 1])
        #expect(try recorder.events(ShapesEvents.AnythingGoes.self) == [same])
        #expect(try recorder.events(ShapesEvents.AnythingGoes.self) != [other])
    }

    @Test("an expected event that violates the plan equals no received event")
    func invalid() async throws {
        try await run { try await $0.track(ShapesEvents.LimitsKept(code: "AB", count: 1, share: 0, price: 0)) }
        let invalid = ShapesEvents.LimitsKept(code: "AB", count: 0, share: 0, price: 0)
        #expect(try recorder.events(ShapesEvents.LimitsKept.self) != [invalid])
    }

    @Test("the envelope and the payload of a received event can be read")
    func envelope() async throws {
        let context = EventContext(userID: "u", anonymousID: "a", sessionID: "s", requestID: "r-1")
        try await run { pipeline in
            try await EventContext.with(context) {
                try await pipeline.track(ShapesEvents.LimitsKept(code: "AB", count: 1, share: 0, price: 1.50))
            }
        }
        let event = try #require(recorder.events.first)
        #expect(event.name == "Limits Kept")
        #expect(event.userID == "u" && event.anonymousID == "a" && event.sessionID == "s")
        #expect(event.context == ["requestId": "r-1"])
        #expect(event.payload["count"] == 1 && event.payload["code"] == "AB")
        #expect(event.json.contains(#""payload":{"#))
    }
}
