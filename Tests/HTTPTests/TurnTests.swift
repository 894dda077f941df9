import EventPipeline
import EventSchema
import Foundation
import NIOCore
import ServerTestSupport
import SluiceHTTP
import TestPromises
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

    @Test(
        "a body of 9,990 rejected events is checked in 40 turns, and the loop answers other requests between them",
        .promise("large-bodies")
    )
    func rejections() async throws {
        let body = "[" + Array(repeating: #"{"name":"Nothing"}"#, count: 9990).joined(separator: ",") + "]"
        try await TestServer.run(Self.oneLoop) { server in
            let (long, short) = (try await RawClient(to: server.address), try await RawClient(to: server.address))
            var before = await server.http.turnStatistics()
            var wasAnsweredBetween = false
            // On a busy machine, this client may see the answer only after the last turn; the suite's time limit ends the loop.
            while !wasAnsweredBetween {
                try Task.checkCancellation()
                // Both requests are complete at about the same time.
                let request = Requests.post(body)
                try await long.send(String(request.dropLast()))
                try await long.send(String(request.suffix(1)))
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

    @Test(
        "4 MiB of events are inflated and checked in turns of 256 KiB, and all are accepted",
        .promise("large-bodies")
    )
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

    @Test("4 MiB of a form are decoded, translated and checked in turns of 256 KiB")
    func form() async throws {
        let event = #"{"event":"Ping","properties":{"n":1,"$note":"\#(String(repeating: "?>", count: 450))"}}"#
        let count = (2 << 20) / (event.utf8.count + 1)
        let json = "[" + Array(repeating: event, count: count).joined(separator: ",") + "]"
        let base64 = Data(json.utf8).base64EncodedString()
            .replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3d")
        let body = Array("data=\(base64)&ver=1".utf8)
        #expect(body.count > 3 << 20)
        var setup = Self.oneLoop
        setup.plan = DialectExchange.plan(["Ping": [("n", .integer)]])
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client in
                let fields = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.count)\r\n"
                try await client.send(bytes: Array("POST /e/ HTTP/1.1\r\nHost: sluice\r\n\(fields)\r\n".utf8) + body)
                #expect(try Answer(try await client.response().body).accepted == count)
                let turns = await server.http.turnStatistics()
                #expect(turns.mostBytes <= Self.turnBytes)
                #expect(turns.turns >= 2 * body.count / Self.turnBytes)
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

    @Test(
        "a body that waits too long for its turn is 503, and none of its events is accepted",
        .promise("large-bodies")
    )
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
        let sender = Sender(maximumInProgress: 4)
        var queue = TurnQueue<Sender, String>()
        for name in ["A", "B", "C", "D", "E", "F"] { queue.add(name, of: sender, isSmall: false) }
        queue.add("s", of: sender, isSmall: true)
        #expect(queue.nextSmall() == "s")
        #expect(queue.nextSmall() == nil)
        var order = ""
        for turn in 0..<12 {
            guard let next = queue.nextLarge() else { break }
            order += next
            // A needs two turns, the others many.
            if next != "A" || turn == 0 { queue.addAgain(next, of: sender, isSmall: false) }
        }
        #expect(order == "ABCDABCDEBCD")
        #expect(!queue.isEmpty)
    }

    @Test("a body of a sender with one body in progress takes all its turns before the next one of this sender")
    func oneInProgress() {
        let sender = Sender(maximumInProgress: 1)
        var queue = TurnQueue<Sender, String>()
        for name in ["A", "B"] { queue.add(name, of: sender, isSmall: false) }
        var order = ""
        for turn in 0..<5 {
            guard let next = queue.nextLarge() else { break }
            order += next
            if turn != 2 { queue.addAgain(next, of: sender, isSmall: false) }
        }
        #expect(order == "AAABB")
    }

    private struct Sender: TurnSender {
        let maximumInProgress: Int
    }

    // MARK: Keys in bodies

    private static var keyed: TestServer.Setup {
        var setup = oneLoop
        setup.keys = [KeyedExchange.key()]
        setup.http.proxies = [NetworkRange("127.0.0.1")].compactMap { $0 }
        return setup
    }

    private static func post(_ body: [UInt8], from address: String) -> [UInt8] {
        let fields = "Content-Type: application/json\r\nContent-Length: \(body.count)\r\nX-Forwarded-For: \(address)"
        return Array("POST /batch/ HTTP/1.1\r\nHost: sluice\r\n\(fields)\r\n\r\n".utf8) + body
    }

    @Test(
        "until the key in a body is known, each address gets an equal share of the time",
        .promise("fair-shares")
    )
    func keysInBodies() async throws {
        let garbage = try await Requests.gzip("[" + String(repeating: "1,", count: 1_000_000) + "1]")
        let event = #"{"event":"Ping","properties":{"n":1}}"#
        let events = Array(repeating: event, count: 2500).joined(separator: ",")
        let honest = Array(#"{"batch":[\#(events)],"api_key":"web-key"}"#.utf8)
        try await TestServer.run(Self.keyed) { server in
            var isShared = false
            // A body of the attackers takes more than 15 turns, and together they have more than 150. On a busy machine
            // many of them pass before the last byte of the honest body arrives; then there is another round.
            while !isShared {
                try Task.checkCancellation()
                let honest = Self.post(honest, from: "192.0.2.2")
                isShared = try await RawClient.with(server.address) { client in
                    try await client.send(bytes: Array(honest.dropLast()))
                    var attackers: [RawClient] = []
                    for _ in 0..<10 { attackers.append(try await RawClient(to: server.address)) }
                    let earlier = await server.http.turnStatistics().setAside
                    for attacker in attackers { try await attacker.send(bytes: Self.post(garbage, from: "192.0.2.1")) }
                    while await server.http.turnStatistics().setAside == earlier { try Task.checkCancellation() }
                    let before = await server.http.turnStatistics().turns
                    try await client.send(bytes: Array(honest.suffix(1)))
                    #expect(try await client.response().status == 200)
                    let after = await server.http.turnStatistics().turns
                    for attacker in attackers {
                        #expect(try await attacker.response().status == 401)
                        attacker.close()
                    }
                    // The attackers still had many turns to take when the honest body was answered.
                    let end = await server.http.turnStatistics().turns
                    return after - before < 60 && end - after >= 60
                }
            }
        }
    }

    @Test("a key that precedes the messages is checked before they are translated", .promise("fair-shares"))
    func keyInFront() async throws {
        let messages = String(repeating: #"{"event":"Ping"},"#, count: 400_000)
        let body = Array(#"{"api_key":"no-key","batch":[\#(messages){}]}"#.utf8)
        try await TestServer.run(Self.keyed) { server in
            try await RawClient.with(server.address) { client in
                try await client.send(bytes: Self.post(body, from: "192.0.2.1"))
                #expect(try await client.response().status == 401)
            }
            #expect(await server.http.turnStatistics().turns <= 2)
        }
    }
}
