import EventJournal
import EventModel
import EventPipeline
import EventValidation
import NIOHTTP1
import PipelineTestSupport
import SluiceHTTP
import SluiceTesting
import Testing

@Suite("What is decided about the batch of a request, and its response")
struct ExchangeOutcomeTests {
    private static let valid = #"{"name":"A"}"#
    private static let mixed = #"[{"name":"A"},{"name":"Unknown"},{"name":"A"}]"#

    private static func events(_ count: Int) -> String {
        "[" + Array(repeating: valid, count: count).joined(separator: ",") + "]"
    }

    // MARK: The response

    @Test("a single accepted event has the prepared response, unless its own has to say more")
    func acceptedOne() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        func answer(_ fields: HTTPHeaders = [:], isLast: Bool = false, for version: ConnectionVersion = .http1)
            -> String
        {
            #expect(connection.send(Self.valid, fields) == "submit 1")
            #expect(connection.decided(.success(.stored)) == "accepted one")
            return connection.answer(isLast: isLast, for: version)
        }
        let body = "\r\n\r\n" + #"{"accepted":1,"rejected":[]}"#
        let plain = answer()
        #expect(plain.hasPrefix("HTTP/1.1 200 OK\r\n") && plain.hasSuffix(body))
        #expect(!plain.contains("connection:") && !plain.contains("access-control"))
        #expect(answer(isLast: true).contains("\r\nconnection: close\r\n"))
        #expect(answer(["connection": "close"]).contains("\r\nconnection: close\r\n"))
        #expect(
            answer(["origin": "http://localhost"]).contains("\r\naccess-control-allow-origin: http://localhost\r\n")
        )
        let http2 = answer(isLast: true, for: .http2)
        #expect(http2.hasPrefix(":status: 200\r\n") && http2.hasSuffix(body) && !http2.contains("connection:"))
    }

    @Test("HTTP/1.0 is told that the connection stays open")
    func version10() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        let fields: HTTPHeaders = ["connection": "keep-alive", "content-length": "\(Self.valid.utf8.count)"]
        #expect(connection.begin(.POST, "/v1/events", fields, version: .http1_0) == "receive")
        #expect(connection.sendBody(Array(Self.valid.utf8)) == "submit 1")
        _ = connection.decided(.success(.stored))
        #expect(connection.answer().contains("\r\nconnection: keep-alive\r\n"))
    }

    @Test("the response says whether the events are stored or delivered, if that is not always the same")
    func acknowledgement() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server(acknowledgement: .deliveredIfAvailable))
        for acknowledgement in [Pipeline.Acknowledgement.stored, .delivered] {
            _ = connection.send(Self.valid)
            #expect(connection.decided(.success(acknowledgement)) == "200 OK")
            #expect(connection.answer().contains("\r\nsluice-acknowledged: \(acknowledgement)\r\n"))
        }
    }

    @Test("a batch that is not accepted is answered with the reason, and only a shutdown ends the connection")
    func failures() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        let full = JournalError(.full, "scripted")
        let cases: [(error: TrackError, missedCommit: Bool, code: String, ends: Bool)] = [
            (.full, false, "queue-full", false), (.cancelled, false, "queue-full", false),
            (.cancelled, true, "not-stored", false), (.unavailable, false, "destination-unavailable", false),
            (.closed, false, "shutting-down", true), (.notStored(full), false, "not-stored", false),
            (.outcomeUnknown, false, "outcome-unknown", false),
        ]
        for (error, missedCommit, code, ends) in cases {
            #expect(connection.send(Self.valid) == "submit 1")
            #expect(connection.decided(.failure(error), missedCommit: missedCommit) == code)
            #expect(connection.endsConnection == ends)
            // Only the sender knows whether a repetition is harmless if the outcome is unknown.
            #expect(connection.answer().contains("\r\nretry-after: ") == (error.code != .outcomeUnknown))
        }
    }

    @Test("a failure is in the format of the request")
    func dialect() throws {
        let connection = try ExchangeHarness(ExchangeHarness.Server())
        #expect(connection.send(#"{"event":"A"}"#, to: "/v1/track") == "submit 1")
        #expect(connection.decided(.failure(.full)) == "queue-full")
        #expect(connection.answer().contains(#"{"success":false,"code":"queue-full","message":""#))
    }

    // MARK: The rejected events

    @Test("they are kept once, when the batch beside them is accepted, even if the sender is gone")
    func rejections() throws {
        let server = try ExchangeHarness.Server()
        let connection = try ExchangeHarness(server)
        #expect(connection.send(Self.mixed) == "submit 2")
        #expect(server.rejectedEvents == 0)
        #expect(connection.decided(.success(.stored)) == "200 OK")
        #expect(server.rejectedEvents == 1)
        #expect(connection.answer().contains(#""accepted":2,"rejected":[{"index":1"#))
        // The sender repeats what was not accepted.
        _ = connection.send(Self.mixed)
        _ = connection.decided(.failure(.full))
        #expect(server.rejectedEvents == 1)
        _ = connection.send(Self.mixed)
        connection.abandon()
        connection.settle(.success(.stored))
        #expect(server.rejectedEvents == 2)
    }

    @Test("when the connection stops waiting, they follow the pipeline's later decision")
    func remainder() throws {
        let server = try ExchangeHarness.Server()
        let connection = try ExchangeHarness(server)
        for (outcome, kept): (Submission.Outcome, Int) in [(.failure(.full), 0), (.success(.stored), 1)] {
            #expect(connection.send(Self.mixed) == "submit 2")
            connection.takeRemainder().settle(outcome)
            #expect(server.rejectedEvents == kept)
        }
    }

    @Test("the memory of a batch counts until the pipeline decides, although the sender is already answered")
    func remainingMemory() throws {
        let server = try ExchangeHarness.Server()
        let connection = try ExchangeHarness(server)
        #expect(connection.send(Self.events(2000)) == "submit 2000")
        let bytes = server.reservedBytes
        #expect(bytes > 100_000)
        do {
            let remainder = connection.takeRemainder()
            // The next request of the connection.
            #expect(connection.send(Self.valid) == "submit 1")
            #expect(server.reservedBytes == bytes)
            remainder.settle(.success(.stored))
        }
        #expect(server.reservedBytes == 0)
    }

    @Test("a long response counts until it is sent, and a short one never does")
    func unsent() throws {
        let server = try ExchangeHarness.Server { $0.maximumExplainedRejections = 1000 }
        let connection = try ExchangeHarness(server)
        let invalid = "[" + Array(repeating: #"{"name":"Unknown"}"#, count: 1000).joined(separator: ",") + "]"
        #expect(connection.send(invalid) == "422 Unprocessable Content")
        let answer = connection.answer()
        #expect(answer.utf8.count > 16 << 10)
        #expect(connection.unsentBytes >= answer.utf8.count && server.reservedBytes == connection.unsentBytes)
        connection.sent()
        #expect(connection.send(Self.valid) == "submit 1")
        _ = connection.decided(.success(.stored))
        _ = connection.answer()
        #expect(connection.unsentBytes == 0 && server.reservedBytes == 0)
    }

    // MARK: The limits of a key

    private static func server(_ limits: WriteKey.Limits) throws -> ExchangeHarness.Server {
        try ExchangeHarness.Server(keys: [.named("web", limits: limits, origins: ["https://shop.example"])])
    }

    @Test(
        "every event that is checked counts, whatever becomes of it",
        arguments: [
            (path: "/v1/events", strict: "false", body: "[\(valid),\(valid)]", step: "submit 2"),
            (
                path: "/v1/events", strict: "false", body: #"[{"name":"X"},{"name":"X"}]"#,
                step: "422 Unprocessable Content"
            ),
            (
                path: "/v1/events", strict: "true", body: #"[{"name":"A"},{"name":"X"}]"#,
                step: "422 Unprocessable Content"
            ),
            (path: "/v1/validate", strict: "false", body: "[\(valid),\(valid)]", step: "200 OK"),
        ]
    )
    func counted(path: String, strict: String, body: String, step: String) throws {
        let connection = try ExchangeHarness(Self.server(.init(eventsPerDay: 3)))
        var fields = HTTPHeaders.key("web")
        fields.add(name: "sluice-strict", value: strict)
        #expect(connection.send(body, to: path, fields) == step)
        #expect(connection.send(Self.valid, .key("web")) == "submit 1")
        // By the header, before a body is received.
        #expect(connection.begin(.POST, "/v1/events", .key("web")) == "daily-volume-exceeded")
        #expect(!connection.endsConnection)
    }

    @Test("a body that is refused counts as one event at least")
    func malformed() throws {
        let connection = try ExchangeHarness(Self.server(.init(eventsPerDay: 1)))
        #expect(connection.send("[", .key("web")) == "malformed-json")
        #expect(connection.begin(.POST, "/v1/events", .key("web")) == "daily-volume-exceeded")
    }

    @Test("a key that exceeds its rate only with the events of the body is refused then, and nothing counts")
    func rateOfBody() throws {
        let server = try Self.server(.init(eventsPerSecond: 1, burst: 1))
        let (first, second) = (try ExchangeHarness(server), try ExchangeHarness(server))
        var fields = HTTPHeaders.key("web")
        fields.add(name: "origin", value: "https://shop.example")
        #expect(first.begin(.POST, "/v1/events", fields) == "receive")
        #expect(second.begin(.POST, "/v1/events", fields) == "receive")
        #expect(first.sendBody(Array(Self.valid.utf8)) == "submit 1")
        #expect(second.sendBody(Array(Self.mixed.utf8)) == "rate-limited")
        let answer = second.answer()
        // Segment's client for browsers reads the second one.
        #expect(answer.contains("\r\nretry-after: 1\r\n") && answer.contains("\r\nx-ratelimit-reset: 1\r\n"))
        #expect(server.rejectedEvents == 0)
        // The first one was not accepted, so its event does not count.
        _ = first.decided(.failure(.full))
        #expect(second.send(Self.valid, .key("web")) == "submit 1")
    }

    @Test("a batch that was certainly not accepted does not count, and one whose outcome is unknown does")
    func givenBack() throws {
        for isLate in [false, true] {
            let connection = try ExchangeHarness(Self.server(.init(eventsPerDay: 1)))
            for error in [TrackError.full, .closed, .cancelled, .unavailable, .outcomeUnknown] {
                #expect(connection.send(Self.valid, .key("web")) == "submit 1")
                if isLate {
                    connection.takeRemainder().settle(.failure(error))
                } else {
                    connection.settle(.failure(error))
                }
            }
            #expect(connection.begin(.POST, "/v1/events", .key("web")) == "daily-volume-exceeded")
        }
    }

    @Test("a key that has used its part of a nearly full journal is refused, and its events do not count")
    func journalShare() throws {
        let files = SimulatedFileSystem(seed: 1)
        let journal = JournalConfiguration(segmentBytes: 1 << 16, maximumBytes: 4 << 16, minimumFreeBytes: 0)
        do {
            var writer = JournalWriter(try Journal(files, configuration: journal, now: 0))
            let line = String(repeating: "x", count: 1000)
            // More than four fifths, of which nothing is delivered.
            for _ in 0..<220 { _ = try writer.commit([SampleEntry([line])], now: 0) }
            try writer.close(now: 0)
        }
        let pipeline = try PipelineHarness(
            [ScriptedTracker(name: "alpha"), ScriptedTracker(name: "beta")],
            journal: files,
            journal,
            queue: .init(capacityInEvents: 100, fullPolicy: .spill),
            start: .beginning
        ).pipeline
        let keys: [WriteKey] = [.named("hog", limits: .init(eventsPerDay: 1000)), .named("honest")]
        let server = try ExchangeHarness.Server(keys: keys, pipeline: pipeline)
        let (first, second) = (try ExchangeHarness(server), try ExchangeHarness(server))
        // A batch may exceed the part.
        #expect(first.send(Self.events(500), .key("hog")) == "submit 500")
        #expect(second.send(Self.valid, .key("hog")) == "journal-share-used")
        #expect(!second.endsConnection)
        #expect(server.keys.usage["hog"]?.events == 500)
        #expect(second.send(Self.valid, .key("honest")) == "submit 1")
        // The batch is not accepted, so the key has its part again.
        first.settle(.failure(.full))
        #expect(second.send(Self.valid, .key("hog")) == "submit 1")
        #expect(server.keys.usage["hog"]?.events == 1)
    }
}
