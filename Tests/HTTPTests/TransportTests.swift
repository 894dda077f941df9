import EventPipeline
import NIOCore
import ServerTestSupport
import SluiceHTTP
import Testing

/// What HTTP/1 allows a sender to do with a connection, and what it forbids.
@Suite("HTTP transport", .timeLimit(.minutes(5)))
struct TransportTests {
    @Test("a request may arrive byte by byte")
    func byteByByte() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                try await client.sendByteByByte(Requests.post())
                #expect(try await client.response().body == Requests.accepted)
                try await client.sendByteByByte(Requests.chunked([#"{"name""#, #":"Ping"}"#]))
                #expect(try await client.response().body == Requests.accepted)
            }
        }
    }

    @Test("a request may be split at any byte")
    func splitAnywhere() async throws {
        let request = Array(Requests.chunked([#"{"na"#, #"me":"Ping"}"#], trailers: "X-Sum: 1\r\n").utf8)
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for cut in 1..<request.count {
                    try await client.send(bytes: Array(request[..<cut]))
                    try await client.send(bytes: Array(request[cut...]))
                    #expect(try await client.response().body == Requests.accepted, "cut at \(cut)")
                }
            }
        }
    }

    @Test("100 pipelined requests are answered in order")
    func pipelining() async throws {
        let requests = (1...100).map { count in
            Requests.post("[" + Array(repeating: Requests.ping, count: count).joined(separator: ",") + "]")
        }
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                try await client.send(requests.joined())
                for count in 1...100 {
                    #expect(try await client.response().body == #"{"accepted":\#(count),"rejected":[]}"#)
                }
            }
            #expect(server.pipeline.statistics.accepted == 5050)
        }
    }

    @Test("pipelined requests of every kind are answered in order")
    func mixedPipelining() async throws {
        let requests = [
            Requests.post(), Requests.plain("GET", "/livez"), Requests.post("{", type: "application/json"),
            Requests.post(type: "text/html"), Requests.plain("POST", "/"), Requests.chunked([Requests.ping]),
        ]
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                try await client.send(requests.joined() + requests.joined())
                for status in [200, 200, 400, 415, 404, 200, 200, 200, 400, 415, 404, 200] {
                    #expect(try await client.response().status == status)
                }
            }
        }
    }

    @Test("an HTTP/1.1 connection stays open until the sender asks to close it")
    func keepAlive() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for _ in 0..<20 {
                    let response = try await client.exchange(Requests.post())
                    #expect(response.status == 200)
                    #expect(response.field("connection") == nil)
                }
                let last = try await client.exchange(Requests.post(fields: "Connection: close\r\n"))
                #expect(last.body == Requests.accepted)
                #expect(last.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("an HTTP/1.0 connection closes unless the sender asks for keep-alive")
    func version10() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let kept = Requests.post(fields: "Connection: keep-alive\r\n", version: "1.0")
                let first = try await client.exchange(kept)
                #expect(first.body == Requests.accepted)
                #expect(first.field("connection") == "keep-alive")
                let last = try await client.exchange(Requests.post(version: "1.0"))
                #expect(last.body == Requests.accepted)
                #expect(last.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("a chunked body may have extensions, trailers and any number of chunks")
    func chunked() async throws {
        let letters = Requests.ping.map { String($0) }
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client async throws in
                for request in [
                    Requests.chunked([Requests.ping]), Requests.chunked(letters),
                    Requests.chunked(letters, trailers: "X-A: 1\r\nX-B:\r\n"),
                ] {
                    #expect(try await client.exchange(request).body == Requests.accepted)
                }
                #expect(try await client.exchange(Requests.chunked([])).status == 400)
            }
        }
    }

    @Test("100 Continue is sent once the header is accepted")
    func expectContinue() async throws {
        let length = "Content-Length: \(Requests.ping.utf8.count)\r\n"
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                for fields in [length, "Transfer-Encoding: chunked\r\n"] {
                    let goOn = try await client.exchange(Requests.head(fields: fields + "Expect: 100-Continue\r\n"))
                    #expect(goOn.status == 100)
                    let body = fields == length ? Requests.ping : "f\r\n\(Requests.ping)\r\n0\r\n\r\n"
                    #expect(try await client.exchange(body).body == Requests.accepted)
                }
            }
            // These requests have no body to wait for, or are of HTTP/1.0, which has no 100 Continue.
            try await RawClient.with(server.address) { client in
                let empty = try await client.exchange(Requests.post("", fields: "Expect: 100-continue\r\n"))
                #expect(empty.status == 400)
                let old = try await client.exchange(Requests.post(fields: "Expect: 100-continue\r\n", version: "1.0"))
                #expect(old.status == 200)
            }
        }
    }

    @Test(
        "a sender that waits for 100 Continue and is refused gets the refusal at once",
        arguments: [
            ("Content-Type: text/html\r\nContent-Length: 15\r\n", 415), ("Content-Length: 8388609\r\n", 413),
            ("Content-Length: 15\r\nContent-Encoding: br\r\n", 415),
        ]
    )
    func expectRefused(fields: String, status: Int) async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.head(fields: fields + "Expect: 100-continue\r\n"))
                #expect(response.status == status)
                // Whether the body follows is unknown, so nothing after the header can be read.
                #expect(response.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("a sender that half-closes still gets every response")
    func halfClose() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                try await client.send(Requests.post() + Requests.chunked([Requests.ping]))
                try await client.finishSending()
                #expect(try await client.response().body == Requests.accepted)
                #expect(try await client.response().body == Requests.accepted)
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("a sender that disconnects within a body leaves no connection and no memory behind")
    func disconnect() async throws {
        var setup = TestServer.Setup()
        setup.http.maximumConnections = 1
        try await TestServer.run(setup) { server in
            let head = Requests.head(fields: "Content-Length: 1000\r\nExpect: 100-continue\r\n")
            for resets in [true, false] {
                // The limit is one connection, and more get 503, so each success shows that the previous connection was released.
                var client = try await RawClient(to: server.address)
                while try await client.exchange(head).status != 100 { client = try await RawClient(to: server.address) }
                try await client.send(#"{"name":"#)
                if resets { try await client.reset() } else { client.close() }
            }
            var status = 503
            while status == 503 {
                status = try await RawClient.with(server.address) { try await $0.exchange(Requests.post()).status }
            }
            #expect(status == 200)
            #expect(server.pipeline.statistics.accepted == 1)
        }
    }

    @Test("a truncated body is 400 for a sender that still reads")
    func cutBody() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                try await client.send(Requests.head(fields: "Content-Length: 100\r\n") + Requests.ping)
                try await client.finishSending()
                let response = try await client.response()
                #expect(response.status == 400)
                #expect(response.body.hasPrefix(#"{"error":{"code":"incomplete-request""#))
                #expect(try await client.isAtEnd())
            }
            #expect(server.pipeline.statistics.accepted == 0)
        }
    }

    @Test("a request for an upgrade is answered in HTTP/1.1, and ends the connection")
    func upgrade() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let fields = "Connection: Upgrade\r\nUpgrade: h2c\r\n"
                let response = try await client.exchange(Requests.post(fields: fields))
                #expect(response.body == Requests.accepted)
                #expect(response.field("connection") == "close")
                #expect(try await client.isAtEnd())
            }
            let connect = try await RawClient.with(server.address) {
                try await $0.exchange("CONNECT sluice:443 HTTP/1.1\r\nHost: sluice:443\r\n\r\n")
            }
            #expect(connect.status == 404)
        }
    }
}
