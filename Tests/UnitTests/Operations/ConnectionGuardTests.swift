import NIOCore
import NIOEmbedded
import NIOHTTP1
import Operations
import TestPromises
import Testing

@Suite("The deadlines of the private port's connections")
struct ConnectionGuardTests {
    private static let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/login")

    /// A connection; a request with an `authorization` is from somebody who may use the port.
    private static func connect() throws -> EmbeddedChannel {
        let connections = GuardedConnections(limit: 64) { authorization, _ in authorization != nil }
        let channel = EmbeddedChannel(handler: ConnectionGuard(connections))
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        return channel
    }

    private static func answer(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPServerResponsePart.head(.init(version: .http1_1, status: .ok)))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    /// How long a connection stays open while a piece of its request arrives every second.
    private static func secondsOpen(
        _ channel: EmbeddedChannel,
        receiving piece: HTTPServerRequestPart? = nil
    ) throws -> Int {
        var seconds = 0
        while channel.isActive {
            if let piece { try channel.writeInbound(piece) }
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            seconds += 1
            if seconds == 1000 { break }
        }
        return seconds
    }

    @Test("end a connection without a head after 5 s")
    func head() throws {
        #expect(try Self.secondsOpen(Self.connect()) == 5)
    }

    @Test(
        "end a connection whose body is not complete after 10 s, however often a piece arrives",
        .promise("private-port-flood")
    )
    func body() throws {
        for authorization in [nil, "Bearer x"] {
            let channel = try Self.connect()
            var head = Self.head
            head.headers = HTTPHeaders(authorization.map { [("authorization", $0)] } ?? [])
            try channel.writeInbound(HTTPServerRequestPart.head(head))
            let piece = HTTPServerRequestPart.body(ByteBuffer(string: "t"))
            #expect(try Self.secondsOpen(channel, receiving: piece) == 10)
        }
    }

    @Test("end a connection that is answered before its body is complete")
    func answeredEarly() throws {
        let channel = try Self.connect()
        try channel.writeInbound(HTTPServerRequestPart.head(Self.head))
        try Self.answer(channel)
        #expect(try Self.secondsOpen(channel, receiving: .body(ByteBuffer(string: "t"))) == 10)
    }

    @Test("end a connection without a further head after 5 s, and after 60 s if it has shown the token")
    func laterHead() throws {
        for (authorization, seconds) in [(nil, 5), ("Bearer x", 60)] {
            let channel = try Self.connect()
            var head = Self.head
            head.headers = HTTPHeaders(authorization.map { [("authorization", $0)] } ?? [])
            for _ in 0..<3 {
                try channel.writeInbound(HTTPServerRequestPart.head(head))
                try channel.writeInbound(HTTPServerRequestPart.end(nil))
                // An answer may last.
                channel.embeddedEventLoop.advanceTime(by: .seconds(1000))
                #expect(channel.isActive)
                try Self.answer(channel)
                channel.embeddedEventLoop.advanceTime(by: .seconds(4))
            }
            #expect(try Self.secondsOpen(channel) == seconds - 4)
        }
    }
}
