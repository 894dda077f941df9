import EventModel
import Foundation
import GoldenClient
import SluiceClient
import SluiceTesting
import Synchronization
import TestPromises
import Testing

@Suite("The client", .timeLimit(.minutes(5)))
struct EventClientTests {
    /// A server that answers as a script says, and then accepts everything.
    private final class ScriptedTransport: Transport {
        struct Lost: Error {}

        private let answers: Mutex<[TransportAnswer?]>
        private let sent = Watched<[String]>([])

        private let hanging: Mutex<Int>

        init(_ answers: [TransportAnswer?] = [], hangs: Int = 0) {
            self.answers = Mutex(answers)
            hanging = Mutex(hangs)
        }

        private static func accepted(_ events: Int) -> TransportAnswer {
            TransportAnswer(status: 200, body: Array(#"{"accepted":\#(events),"rejected":[]}"#.utf8))
        }

        /// The lines of each request, without their ids and times.
        var requests: [String] { sent.value }

        func waitForRequests(_ count: Int) async { await sent.wait { $0.count >= count } }

        func send(_ lines: [UInt8]) async throws -> TransportAnswer {
            let names = String(decoding: lines, as: UTF8.self).split(separator: "\n").map { line in
                line.split(separator: #""known":""#).last?.prefix { $0 != "\"" } ?? ""
            }
            sent.update { $0.append(names.joined(separator: " ")) }
            let hangs = hanging.withLock { count in
                defer { count -= 1 }
                return count > 0
            }
            if hangs {
                // Ends when the task is cancelled.
                for await _ in AsyncStream(Void.self, { _ in }) {}
            }
            guard let answer = answers.withLock({ $0.isEmpty ? Self.accepted(names.count) : $0.removeFirst() }) else {
                throw Lost()
            }
            return answer
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-client-\(UUID().uuidString)")
        .path
    private let clock = ManualClock()

    private func client(_ transport: ScriptedTransport, _ reports: Watched<[EventClient.Report]>? = nil) throws
        -> EventClient
    {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        var configuration = EventClient.Configuration(url: url, folder: folder)
        configuration.maximumBatchEvents = 2
        configuration.onReport = { report in reports?.update { $0.append(report) } }
        return try EventClient(configuration, transport: transport, clock: clock, jitter: { 0 })
    }

    private static func event(_ name: String) -> ClientShapes.AnythingGoes { ClientShapes.AnythingGoes(known: name) }

    /// Runs a client while `body` runs.
    private func run(_ client: EventClient, _ body: () async throws -> Void) async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withThrowingTaskGroup { group in
            group.addTask { await client.run() }
            try await body()
            group.cancelAll()
        }
    }

    @Test("events are sent in their order: full batches at once, and the last one after it has lingered")
    func order() async throws {
        let transport = ScriptedTransport()
        let client = try client(transport)
        try await run(client) {
            for name in ["a", "b", "c"] { try client.track(Self.event(name)) }
            await transport.waitForRequests(1)
            #expect(transport.requests == ["a b"])
            await clock.waitForSleeper(for: .seconds(5))
            clock.advance(by: .seconds(5))
            await transport.waitForRequests(2)
            #expect(transport.requests == ["a b", "c"])
        }
    }

    @Test(
        "after a lost answer, and while the server is overloaded, the same events are sent again",
        .promise("client-queues")
    )
    func repetition() async throws {
        let transport = ScriptedTransport([nil, TransportAnswer(status: 503, retryAfter: "60")])
        let reports = Watched<[EventClient.Report]>([])
        let client = try client(transport, reports)
        try await run(client) {
            for name in ["a", "b"] { try client.track(Self.event(name)) }
            await transport.waitForRequests(1)
            await clock.waitForSleeper(for: .milliseconds(500))
            clock.advance(by: .milliseconds(500))
            await transport.waitForRequests(2)
            await clock.waitForSleeper(for: .seconds(60))
            clock.advance(by: .seconds(60))
            try await client.flush(within: .seconds(1000))
        }
        #expect(transport.requests == ["a b", "a b", "a b"])
        #expect(client.queuedBytes == 0)
        #expect(
            reports.value == [.delayed(reason: "there was no answer"), .delayed(reason: "the status was 503")]
        )
    }

    @Test("rejected events are reported, are not sent again, and delay nothing", .promise("client-queues"))
    func rejection() async throws {
        let body = #"{"accepted":0,"rejected":[{"index":0,"id":"x","errors":[{"code":"too-long"}]}],"rejectedCount":2}"#
        let transport = ScriptedTransport([TransportAnswer(status: 422, body: Array(body.utf8))])
        let reports = Watched<[EventClient.Report]>([])
        let client = try client(transport, reports)
        try await run(client) {
            for name in ["a", "b", "c"] { try client.track(Self.event(name)) }
            try await client.flush()
        }
        #expect(transport.requests == ["a b", "c"])
        #expect(
            reports.value == [
                .rejected([RejectedEvent(id: "x", codes: ["too-long"]), RejectedEvent(id: nil, codes: [])])
            ]
        )
    }

    @Test("what one client has queued, the next one with the same folder sends")
    func restart() async throws {
        func queue() throws {
            let client = try self.client(ScriptedTransport())
            for name in ["a", "b", "c"] { try client.track(Self.event(name)) }
        }
        try queue()
        let transport = ScriptedTransport()
        let client = try client(transport)
        try client.track(Self.event("d"))
        try await run(client) { try await client.flush() }
        #expect(transport.requests == ["a b", "c", "d"])
    }

    @Test("a flush that takes too long ends with an error, and the events stay queued")
    func flush() async throws {
        let transport = ScriptedTransport(Array(repeating: nil, count: 100))
        let client = try client(transport)
        try await run(client) {
            try client.track(Self.event("a"))
            let code = await withTaskGroup(of: ClientError.Code?.self) { group in
                group.addTask {
                    do {
                        try await client.flush(within: .seconds(3))
                    } catch {
                        return (error as? ClientError)?.code
                    }
                    return nil
                }
                await clock.waitForSleepers(2)
                clock.advance(by: .seconds(3))
                return await group.next() ?? nil
            }
            #expect(code == .timeout)
            #expect(client.queuedBytes > 0)
        }
    }

    @Test("a flush whose time is over before it begins does not wait")
    func flushWithoutTime() async throws {
        let client = try client(ScriptedTransport(Array(repeating: nil, count: 100)))
        try await run(client) {
            try client.track(Self.event("a"))
            await #expect(throws: ClientError.self) { try await client.flush(within: .zero) }
        }
    }

    @Test("a batch whose file is gone is reported, and the next one is sent")
    func lost() async throws {
        let transport = ScriptedTransport()
        let reports = Watched<[EventClient.Report]>([])
        let client = try client(transport, reports)
        for name in ["a", "b", "c"] { try client.track(Self.event(name)) }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        try FileManager.default.removeItem(atPath: folder + "/" + #require(files.first))
        try await run(client) { try await client.flush() }
        #expect(transport.requests == ["c"])
        let reason = "their file was removed or shortened by another program"
        #expect(reports.value == [.lost(events: 2, reason: reason)])
    }

    @Test("a server that never ends its answer is left after ten timeouts")
    func endless() async throws {
        let transport = ScriptedTransport(hangs: 1)
        let reports = Watched<[EventClient.Report]>([])
        let client = try client(transport, reports)
        try await run(client) {
            for name in ["a", "b"] { try client.track(Self.event(name)) }
            await clock.waitForSleeper(for: .seconds(300))
            clock.advance(by: .seconds(300))
            await clock.waitForSleeper(for: .milliseconds(500))
            clock.advance(by: .milliseconds(500))
            await transport.waitForRequests(2)
        }
        #expect(reports.value.first == .delayed(reason: "there was no answer"))
    }

    @Test("a client can run again, and only once at a time")
    func runsAgain() async throws {
        let transport = ScriptedTransport()
        let client = try client(transport)
        for name in ["a", "b"] {
            let task = Task { await client.run() }
            try client.track(Self.event(name))
            try await client.flush()
            await client.run()
            task.cancel()
            await task.value
        }
        #expect(transport.requests == ["a", "b"])
        try? FileManager.default.removeItem(atPath: folder)
    }

    @Test("an event that breaks a rule is not queued")
    func invalid() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let client = try client(ScriptedTransport())
        let event = ClientShapes.LimitsKept(code: "A", count: 1, share: 0, price: 1)
        #expect(throws: InvalidEvent.self) { try client.track(event) }
        #expect(client.queuedBytes == 0)
    }

    @Test("settings that cannot work are an error")
    func settings() throws {
        let url = try #require(URL(string: "ftp://127.0.0.1"))
        let error = #expect(throws: ClientError.self) { try EventClient(.init(url: url, folder: folder)) }
        #expect(error?.code == .misconfigured)
    }
}
