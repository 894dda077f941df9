import EventPipeline
import NIOCore
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// The limits on size, number and time, each exceeded by a sender.
@Suite("HTTP limits", .timeLimit(.minutes(5)))
struct LimitTests {
    /// A server with limits so small that a test can reach them.
    private static func small(_ change: (inout IngestConfiguration) -> Void) -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.http.maximumBodyBytes = 1000
        change(&setup.http)
        return setup
    }

    @Test(
        "a Content-Length over 8 MiB is 413 before the body is sent, and a body of exactly 8 MiB is accepted",
        .promise("large-bodies")
    )
    func announcedLength() async throws {
        let limit = 8 << 20
        try await TestServer.run { server in
            for length in [String(limit + 1), "99999999999999999999", "9223372036854775807", "18446744073709551615"] {
                try await RawClient.with(server.address) { client in
                    let response = try await client.exchange(Requests.head(fields: "Content-Length: \(length)\r\n"))
                    // The largest number that the decoder's counter can hold is too large; larger ones are not valid lengths.
                    #expect(response.status == (length.count > 19 && length != "18446744073709551615" ? 400 : 413))
                    #expect(response.field("connection") == "close")
                    #expect(try await client.isAtEnd())
                }
            }
            let lines = Requests.ping + "\n" + String(repeating: "\n", count: limit - Requests.ping.utf8.count - 1)
            let response = try await RawClient.with(server.address) {
                try await $0.exchange(Requests.post(lines, type: "application/x-ndjson"))
            }
            #expect(response.body == Requests.accepted)
        }
    }

    @Test("the size of a chunked body is counted, and the response is 413 as soon as it exceeds the limit")
    func countedLength() async throws {
        try await TestServer.run(Self.small { _ in }) { server in
            let padding = String(repeating: " ", count: 500)
            let whole = Requests.chunked([padding, String(repeating: " ", count: 485), Requests.ping])
            let accepted = try await RawClient.with(server.address) { try await $0.exchange(whole) }
            #expect(accepted.body == Requests.accepted)
            try await RawClient.with(server.address) { client in
                // The end of the body never arrives.
                let head = Requests.head(fields: "Transfer-Encoding: chunked\r\n")
                let response = try await client.exchange(head + "1f4\r\n\(padding)\r\n1f5\r\n\(padding) \r\n")
                #expect(response.status == 413)
                #expect(response.body.hasPrefix(#"{"error":{"code":"too-large""#))
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("a gzip body whose inflated size exceeds the limit is 413")
    func inflatedLength() async throws {
        let padding = String(repeating: " ", count: 985)
        let exact = try await Requests.gzip(Requests.ping + padding)
        let over = try await Requests.gzip(Requests.ping + padding + " ")
        try await TestServer.run(Self.small { _ in }) { server in
            try await RawClient.with(server.address) { client in
                for (body, status) in [(exact, 200), (over, 413), (exact, 200)] {
                    let fields = "Content-Encoding: gzip\r\nContent-Length: \(body.count)\r\n"
                    try await client.send(bytes: Array(Requests.head(fields: fields).utf8) + body)
                    #expect(try await client.response().status == status)
                }
            }
        }
    }

    @Test("a body with too many invalid events is 413 as a whole, in every format; up to the limit, each is reported")
    func rejections() async throws {
        try await TestServer.run(Self.small { $0.maximumRejections = 20 }) { server in
            try await RawClient.with(server.address) { client in
                for (count, status) in [(20, 200), (21, 413)] {
                    let events = [Requests.ping] + Array(repeating: "1", count: count)
                    let array = "[" + events.joined(separator: ",") + "]"
                    // After an invalid element, the validator reads the elements one by one.
                    let broken = "[" + events.dropLast().joined(separator: ",") + ",{:}]"
                    let lines = events.joined(separator: "\n")
                    for (body, type) in [(array, "json"), (broken, "json"), (lines, "x-ndjson")] {
                        let response = try await client.exchange(Requests.post(body, type: "application/\(type)"))
                        #expect(response.status == status)
                        if status == 200 {
                            #expect(try Answer(response.body).rejected.map(\.index) == Array(1...20))
                        } else {
                            #expect(response.body.hasPrefix(#"{"error":{"code":"too-large""#))
                        }
                    }
                }
            }
            #expect(server.pipeline.statistics.accepted == 3)
            #expect(try await server.quarantined().count == 60)
        }
    }

    @Test("a sender that continues after 413 gets the whole response, not a reset")
    func pushesOn() async throws {
        try await TestServer.run { server in
            var isSent = false
            // A busy machine may take longer to send everything than the server reads on; then there is another connection.
            for _ in 0..<10 where !isSent {
                try await RawClient.with(server.address) { client in
                    try await client.send(Requests.head(fields: "Content-Length: 16777216\r\n"))
                    do {
                        for _ in 0..<16 { try await client.send(bytes: [UInt8](repeating: 32, count: 1 << 20)) }
                    } catch {
                        return
                    }
                    isSent = true
                    #expect(try await client.response().status == 413)
                }
            }
            #expect(isSent)
        }
    }

    @Test("too many header fields, or too many bytes of them, are 431")
    func header() async throws {
        let tooMany = (0..<65).map { "X-\($0): 1\r\n" }.joined()
        let tooLong = "X: " + String(repeating: "x", count: 17 << 10) + "\r\n"
        let long = (0..<20).map { "X-\($0): " + String(repeating: "x", count: 900) + "\r\n" }.joined()
        try await TestServer.run { server in
            for fields in [tooMany, tooLong, long] {
                try await RawClient.with(server.address) { client in
                    let response = try await client.exchange(Requests.post(fields: fields))
                    #expect(response.status == 431)
                    #expect(response.body.hasPrefix(#"{"error":{"code":"header-too-large""#))
                    #expect(try await client.isAtEnd())
                }
            }
            let trailers = try await RawClient.with(server.address) {
                try await $0.exchange(Requests.chunked([Requests.ping], trailers: tooLong))
            }
            #expect(trailers.status == 431)
            let target = try await RawClient.with(server.address) {
                try await $0.exchange(Requests.plain("GET", "/" + String(repeating: "x", count: 17 << 10)))
            }
            #expect(target.status == 431)
            // 61 fields and the three that every request has are exactly the limit.
            let enough = (0..<61).map { "X-\($0): 1\r\n" }.joined()
            let response = try await RawClient.with(server.address) {
                try await $0.exchange(Requests.post(fields: enough))
            }
            #expect(response.status == 200)
            #expect(server.pipeline.statistics.accepted == 1)
        }
    }

    @Test("a connection beyond the limit is 503 with Retry-After, until another one closes")
    func connections() async throws {
        let setup = Self.small {
            $0.maximumConnections = 2
            $0.maximumConnectionsPerAddress = 2
        }
        try await TestServer.run(setup) { server in
            let first = try await RawClient(to: server.address)
            let second = try await RawClient(to: server.address)
            #expect(try await first.exchange(Requests.post()).status == 200)
            #expect(try await second.exchange(Requests.post()).status == 200)
            try await RawClient.with(server.address) { client in
                let response = try await client.response()
                #expect(response.status == 503)
                #expect(response.field("retry-after") == "1")
                #expect(try await client.isAtEnd())
            }
            #expect(try await second.exchange(Requests.post()).status == 200)
            first.close()
            var status = 503
            while status == 503 {
                status = try await RawClient.with(server.address) { try await $0.exchange(Requests.post()).status }
            }
            #expect(status == 200)
            second.close()
        }
    }

    @Test("refused connections that stay open are closed, and the accepted one is still served")
    func crowd() async throws {
        try await TestServer.run(Self.small { $0.maximumConnections = 1 }) { server in
            let first = try await RawClient(to: server.address)
            #expect(try await first.exchange(Requests.post()).status == 200)
            var crowd: [RawClient] = []
            for _ in 0..<140 { crowd.append(try await RawClient(to: server.address)) }
            var refused = 0
            for client in crowd { refused += try await client.rest().hasPrefix("HTTP/1.1 503 ") ? 1 : 0 }
            #expect((100...140).contains(refused))
            #expect(try await first.exchange(Requests.post()).status == 200)
            // Refused connections that stay open do not count against the limit.
            first.close()
            var status: Int?
            while status != 200 {
                status = try? await RawClient.with(server.address) { try await $0.exchange(Requests.post()).status }
            }
            for client in crowd { client.close() }
        }
    }

    @Test(
        "connections from one address beyond their limit are 503, and those of a proxy are not counted",
        .promise("memory-limits")
    )
    func connectionsPerAddress() async throws {
        for proxies in [[], ["127.0.0.0/8"]] {
            let setup = Self.small {
                $0.maximumConnectionsPerAddress = 1
                $0.proxies = proxies.compactMap { NetworkRange($0) }
            }
            try await TestServer.run(setup) { server in
                let first = try await RawClient(to: server.address)
                #expect(try await first.exchange(Requests.post()).status == 200)
                let second = try await RawClient(to: server.address)
                let response = try await second.exchange(Requests.post())
                #expect(response.status == (proxies.isEmpty ? 503 : 200))
                #expect(response.body.contains("too-many-connections-from-address") == proxies.isEmpty)
                first.close()
                second.close()
            }
        }
    }

    @Test("the last request that a connection may have is answered, and closes it")
    func requestsPerConnection() async throws {
        try await TestServer.run(Self.small { $0.maximumRequestsPerConnection = 2 }) { server in
            try await RawClient.with(server.address) { client in
                #expect(try await client.exchange(Requests.post()).field("connection") == nil)
                let last = try await client.exchange(Requests.post())
                #expect(last.status == 200)
                #expect(last.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("requests that wait behind another are answered up to their limit, and then the connection is closed")
    func pipelinedRequests() async throws {
        var setup = Self.small {
            $0.maximumPipelinedRequests = 3
            $0.maxWait = .milliseconds(100)
        }
        setup.delivers = false
        setup.queueCapacityInEvents = 1
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client in
                #expect(try await client.exchange(Requests.post()).status == 200)
                // The first of these waits for the queue, and the others for it.
                try await client.send(String(repeating: Requests.post(), count: 10))
                for _ in 0..<4 { #expect(try await client.response().status == 503) }
                #expect(try await client.isAtEnd())
            }
            #expect(server.pipeline.statistics.accepted == 1)
        }
    }

    @Test("a body with more events than allowed is 413, and none of them is accepted")
    func events() async throws {
        try await TestServer.run(Self.small { $0.maximumEvents = 3 }) { server in
            try await RawClient.with(server.address) { client in
                for (count, status) in [(3, 200), (4, 413)] {
                    let lines = String(repeating: Requests.ping + "\n", count: count)
                    let list = "[" + [String](repeating: Requests.ping, count: count).joined(separator: ",") + "]"
                    let asLines = try await client.exchange(Requests.post(lines, type: "application/x-ndjson"))
                    #expect(asLines.status == status)
                    let asList = try await client.exchange(Requests.post(list))
                    #expect(asList.status == status)
                    #expect((status == 413) == asList.body.hasPrefix(#"{"error":{"code":"too-large""#))
                }
            }
            #expect(server.pipeline.statistics.accepted == 6)
        }
    }

    @Test("large bodies share a memory limit; beyond it, the response is 503 and nothing is accepted")
    func budget() async throws {
        var setup = TestServer.Setup()
        // Room for one large body and four connections.
        setup.http.maximumBufferedBytes = 1_000_000 + 4 * (128 << 10)
        try await TestServer.run(setup) { server in
            let body = String(repeating: " ", count: 800_000 - Requests.ping.utf8.count) + Requests.ping
            let request = Requests.post(body)
            try await RawClient.with(server.address) { holder in
                // The response to the first request shows that the header after it was handled.
                try await holder.send(Requests.post() + String(request.dropLast()))
                #expect(try await holder.response().status == 200)
                for other in [request, Requests.chunked([body])] {
                    let refused = try await RawClient.with(server.address) { try await $0.exchange(other) }
                    #expect(refused.status == 503)
                    #expect(refused.field("retry-after") == "1")
                }
                let small = try await RawClient.with(server.address) { try await $0.exchange(Requests.post()) }
                #expect(small.status == 200)
                #expect(try await holder.exchange("}").status == 200)
            }
            let after = try await RawClient.with(server.address) { try await $0.exchange(request) }
            #expect(after.status == 200)
            #expect(server.pipeline.statistics.accepted == 4)
        }
    }

    @Test("an unfinished header is 408, even if bytes keep arriving")
    func slowHeader() async throws {
        try await TestServer.run(Self.small { $0.timeouts.head = .milliseconds(50) }) { server in
            try await RawClient.with(server.address) { client in
                try await client.send("POST /v1/events HTTP/1.1\r\n")
                let response = try await Self.response(of: client, whileDripping: "X: x\r\n")
                #expect(response.status == 408)
                #expect(response.body.hasPrefix(#"{"error":{"code":"timeout""#))
                #expect(response.field("connection") == "close")
            }
        }
    }

    @Test("an unfinished body is 408, even if bytes keep arriving")
    func slowBody() async throws {
        try await TestServer.run(Self.small { $0.timeouts.body = .milliseconds(50) }) { server in
            for head in ["Content-Length: 900\r\n", "Transfer-Encoding: chunked\r\n"] {
                try await RawClient.with(server.address) { client in
                    try await client.send(Requests.head(fields: head))
                    let drip = head.hasPrefix("C") ? " " : "1\r\n \r\n"
                    let response = try await Self.response(of: client, whileDripping: drip)
                    #expect(response.status == 408)
                }
            }
            #expect(server.pipeline.statistics.accepted == 0)
        }
    }

    @Test("a pause in a body is 408, and steady bytes are not")
    func bodyPause() async throws {
        try await TestServer.run(Self.small { $0.timeouts.bodyPause = .seconds(2) }) { server in
            try await RawClient.with(server.address) { client in
                try await client.send(Requests.head(fields: "Content-Length: 900\r\n"))
                // Longer than the pause in all.
                let padding = String(repeating: " ", count: 900 - Requests.ping.utf8.count)
                let dripping = Self.drip(padding, every: .milliseconds(4), to: client)
                try await dripping.get()
                #expect(try await client.exchange(Requests.ping).status == 200)
                try await client.send(Requests.head(fields: "Content-Length: 900\r\n") + " ")
                #expect(try await client.response().status == 408)
            }
        }
    }

    @Test("an idle connection is closed without a response, before the first request and after the last")
    func idle() async throws {
        try await TestServer.run(Self.small { $0.timeouts.idle = .seconds(2) }) { server in
            try await RawClient.with(server.address) { client async throws in
                #expect(try await client.isAtEnd())
            }
            var isAnswered = false
            // A busy machine may take longer than that to send the request; then there is another connection.
            for _ in 0..<10 where !isAnswered {
                try await RawClient.with(server.address) { client async throws in
                    guard let response = try? await client.exchange(Requests.post()) else { return }
                    isAnswered = true
                    #expect(response.status == 200)
                    #expect(try await client.isAtEnd())
                }
            }
            #expect(isAnswered)
        }
    }

    @Test("a sender that does not read its responses is disconnected")
    func unreadAnswers() async throws {
        try await TestServer.run(Self.small { $0.timeouts.answer = .milliseconds(50) }) { server in
            let client = try await RawClient(to: server.address, readsByItself: false)
            let request = Requests.post("{")
            let requests = String(repeating: request, count: 1 << 20 / request.utf8.count)
            // Writes succeed until the buffers of both kernels are full; then the server closes the connection, and they fail.
            await #expect(throws: (any Error).self) {
                while true { try await client.send(requests) }
            }
        }
    }

    /// Sends a text byte by byte.
    private static func drip(_ text: String, every pause: TimeAmount, to client: RawClient) -> EventLoopFuture<Void> {
        let done = client.channel.eventLoop.makePromise(of: Void.self)
        let bytes = Array(text.utf8)
        let position = NIOLoopBoundBox.makeBoxSendingValue(0, eventLoop: client.channel.eventLoop)
        let channel = client.channel
        channel.eventLoop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { task in
            guard position.value < bytes.count else {
                task.cancel()
                return done.succeed()
            }
            channel.writeAndFlush(ByteBuffer(bytes: bytes[position.value..<position.value + 1]), promise: nil)
            position.value += 1
        }
        return done.futureResult
    }

    /// Sends pieces, at most one per millisecond, until the response arrives.
    private static func response(of client: RawClient, whileDripping drip: String) async throws -> RawClient.Response {
        let dripping = client.channel.eventLoop.scheduleRepeatedTask(
            initialDelay: .milliseconds(1),
            delay: .milliseconds(1)
        ) { [channel = client.channel] _ in
            channel.writeAndFlush(ByteBuffer(string: drip), promise: nil)
        }
        defer { dripping.cancel() }
        return try await client.response()
    }
}
