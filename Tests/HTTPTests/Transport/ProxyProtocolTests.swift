import ServerTestSupport
import SluiceHTTP
import Testing

/// The PROXY protocol, version 2, and who may use it.
@Suite("PROXY protocol", .timeLimit(.minutes(5)))
struct ProxyProtocolTests {
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]

    /// A header for TCP over IPv4, from 192.0.2.N.
    private static func header(from last: UInt8) -> [UInt8] {
        signature + [0x21, 0x11, 0, 12, 192, 0, 2, last, 127, 0, 0, 1, 0x30, 0x39, 0x1F, 0x90]
    }

    /// A header for TCP over IPv6, from 2001:db8:0:N::1.
    private static func header6(from network: UInt8) -> [UInt8] {
        let source: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, 1]
        return signature + [0x21, 0x21, 0, 36] + source + source + [0x30, 0x39, 0x1F, 0x90]
    }

    private static func setup(_ proxies: String) -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.http.proxies = [proxies].compactMap { NetworkRange($0) }
        setup.http.expectsProxyHeader = true
        setup.http.maximumConnectionsPerAddress = 1
        return setup
    }

    @Test("connections behind a proxy count for the address that it states")
    func addresses() async throws {
        try await TestServer.run(Self.setup("127.0.0.1")) { server in
            var clients: [RawClient] = []
            for (header, status) in [
                (Self.header(from: 1), 200), (Self.header(from: 2), 200), (Self.header(from: 1), 503),
                (Self.header6(from: 1), 200), (Self.header6(from: 2), 200), (Self.header6(from: 1), 503),
                // The proxy itself connects, or does not know the address.
                (Self.signature + [0x20, 0, 0, 0], 200), (Self.signature + [0x21, 0, 0, 2, 1, 2], 200),
            ] {
                let client = try await RawClient(to: server.address)
                try await client.send(bytes: header + Array(Requests.post().utf8))
                #expect(try await client.response().status == status)
                clients.append(client)
            }
            for client in clients { client.close() }
        }
    }

    @Test("a connection counts from its start, before the proxy has stated an address")
    func silent() async throws {
        var setup = Self.setup("127.0.0.1")
        setup.http.maximumConnections = 2
        try await TestServer.run(setup) { server in
            let silent = [try await RawClient(to: server.address), try await RawClient(to: server.address)]
            for client in silent { try await client.send(bytes: Self.signature) }
            let request = Array(Requests.post().utf8)
            try await RawClient.with(server.address) { client in
                try await client.send(bytes: Self.header(from: 1) + request)
                #expect(try await client.response().status == 503)
            }
            let rest = Self.header(from: 2).dropFirst(Self.signature.count)
            try await silent[0].send(bytes: Array(rest) + request)
            #expect(try await silent[0].response().status == 200)
            for client in silent { client.close() }
        }
    }

    @Test("a header may arrive byte by byte")
    func pieces() async throws {
        try await TestServer.run(Self.setup("127.0.0.1")) { server in
            try await RawClient.with(server.address) { client in
                for byte in Self.header(from: 1) { try await client.send(bytes: [byte]) }
                #expect(try await client.exchange(Requests.post()).status == 200)
            }
        }
    }

    @Test(
        "a connection without a valid header is closed without a response",
        arguments: [
            Array("POST /v1/events HTTP/1.1\r\n\r\n".utf8), Array("PROXY TCP4 192.0.2.1 127.0.0.1 1 2\r\n".utf8),
            signature + [0x31, 0x11, 0, 12], signature + [0x21, 0x11, 0, 4, 1, 2, 3, 4],
            signature + [0x21, 0x11, 0xFF, 0xFF], signature, [],
        ] as [[UInt8]]
    )
    func invalid(bytes: [UInt8]) async throws {
        var setup = Self.setup("127.0.0.1")
        // Some of them wait for the rest of a header.
        setup.http.timeouts.head = .milliseconds(200)
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client in
                if !bytes.isEmpty { try await client.send(bytes: bytes) }
                #expect(try await client.isAtEnd())
            }
        }
    }

    @Test("only a configured proxy can state an address")
    func stranger() async throws {
        try await TestServer.run(Self.setup("192.0.2.0/24")) { server in
            try await RawClient.with(server.address) { client in
                try await client.send(bytes: Self.header(from: 1) + Array(Requests.post().utf8))
                #expect(try await client.response().status == 400)
            }
        }
    }
}
