import EventPipeline
import NIOCore
import SluiceHTTP
import Testing

/// How the bodies on one event loop share its time.
@Suite("HTTP turns", .timeLimit(.minutes(5)))
struct TurnTests {
    /// The budget of a turn, plus at most one piece of lines.
    private static let turnBytes = (256 << 10) + (64 << 10)

    private static var oneLoop: TestServer.Setup {
        var setup = TestServer.Setup()
        setup.http.eventLoopCount = 1
        // On a busy machine, a body may have to wait for long.
        setup.http.maxWait = .seconds(100)
        return setup
    }

    @Test("a body of 9,990 rejected events is checked in 40 turns, and the loop answers other requests between them")
    func rejections() async throws {
        let body = "[" + Array(repeating: #"{"name":"Nothing"}"#, count: 9990).joined(separator: ",") + "]"
        try await TestServer.run(Self.oneLoop) { server in
            let (long, short) = (try await RawClient(to: server.address), try await RawClient(to: server.address))
            var before = await server.http.turnStatistics()
            var wasAnsweredBetween = false
            // On a busy machine, this client may miss the turns of one body; the suite's time limit ends the loop.
            while !wasAnsweredBetween {
                try await long.send(Requests.post(body))
                while await server.http.turnStatistics().setAside == before.setAside {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                #expect(try await short.exchange(Requests.plain("GET", "/livez")).status == 200)
                #expect(try await short.exchange(Requests.post()).status == 200)
                let meanwhile = await server.http.turnStatistics()
                #expect(try await long.response().status == 422)
                let after = await server.http.turnStatistics()
                // The small request had one turn.
                #expect((39...41).contains(after.turns - before.turns - 1))
                #expect(after.mostRejections <= 256)
                wasAnsweredBetween = meanwhile.setAside < after.setAside
                before = after
            }
            long.close()
            short.close()
        }
    }

    @Test("4 MiB of events are inflated and checked in turns of 256 KiB, and all are accepted")
    func bytes() async throws {
        let event = #"{"name":"Ping","payload":{"n":1},"context":{"note":"\#(String(repeating: "x", count: 900))"}}"#
        let body = Array(repeating: event, count: (4 << 20) / (event.utf8.count + 1)).joined(separator: "\n")
        let gzip = try await Requests.gzip(body)
        try await TestServer.run(Self.oneLoop) { server in
            try await RawClient.with(server.address) { client in
                let fields = "Content-Type: application/x-ndjson\r\nContent-Encoding: gzip\r\n"
                let head = Requests.head(fields: fields + "Content-Length: \(gzip.count)\r\n")
                try await client.send(bytes: Array(head.utf8) + gzip)
                let response = try await client.response()
                #expect(try Answer(response.body).accepted == body.split(separator: "\n").count)
                let turns = await server.http.turnStatistics()
                #expect(turns.mostBytes <= Self.turnBytes)
                #expect(turns.turns >= 2 * body.utf8.count / Self.turnBytes)
            }
        }
    }

    @Test("small bodies of one read share one allowance, and the rest of them waits for the next tick")
    func pipelined() async throws {
        let request = Requests.post("[" + Array(repeating: "5", count: 200).joined(separator: ",") + "]")
        try await TestServer.run(Self.oneLoop) { server in
            try await RawClient.with(server.address) { client in
                try await client.send(String(repeating: request, count: 50))
                for _ in 0..<50 { #expect(try await client.response().status == 422) }
                let turns = await server.http.turnStatistics()
                // Their number depends on how the system splits the input into reads; two bodies in one read count as one.
                #expect(turns.setAside > 0)
                #expect(turns.turns == 50 + turns.setAside)
                #expect(turns.mostRejections <= 256)
            }
        }
    }

    @Test("a body that waits too long for its turn is 503, and none of its events is accepted")
    func waitsTooLong() async throws {
        var setup = Self.oneLoop
        setup.http.timeouts.check = .zero
        try await TestServer.run(setup) { server in
            let body = (0..<5000).map { $0 % 2 == 0 ? Requests.ping : "5" }.joined(separator: "\n")
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.post(body, type: "application/x-ndjson"))
                #expect(response.status == 503)
                #expect(response.body.hasPrefix(#"{"error":{"code":"overloaded""#))
            }
            #expect(server.pipeline.statistics.accepted == 0)
            #expect(try await server.quarantined().isEmpty)
        }
    }

    @Test("small bodies go before large ones, and of the large ones of a sender four take turns while the others wait")
    func order() {
        var queue = TurnQueue<Int, String>()
        for name in ["A", "B", "C", "D", "E", "F"] { queue.add(name, of: 0, isSmall: false) }
        queue.add("s", of: 0, isSmall: true)
        #expect(queue.nextSmall() == "s")
        #expect(queue.nextSmall() == nil)
        var order = ""
        for turn in 0..<12 {
            guard let next = queue.nextLarge() else { break }
            order += next
            // A needs two turns, the others many.
            if next != "A" || turn == 0 { queue.addAgain(next, of: 0, isSmall: false) }
        }
        #expect(order == "ABCDABCDEBCD")
        #expect(!queue.isEmpty)
    }
}
