import Foundation
package import NIOCore
import NIOPosix
package import SluiceHTTP

/// A client that sends exactly the given bytes, in the given pieces, and returns exactly what it received.
package final class RawClient {
    /// A parsed response.
    package struct Response: Equatable {
        package let status: Int
        package let header: String
        package let body: String

        /// The value of a header field; `nil` if it is absent.
        package func field(_ name: String) -> String? {
            for line in header.split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                if parts.count == 2, parts[0].lowercased() == name { return parts[1].drop { $0 == " " }.lowercased() }
            }
            return nil
        }
    }

    /// The server closed the connection in the middle of a response.
    package struct Interrupted: Error {
        package let received: String
    }

    /// After how many seconds without traffic the kernel asks whether the server's end is there.
    private static var keepaliveIdleTime: NIOBSDSocket.Option {
        #if canImport(Darwin)
        NIOBSDSocket.Option(rawValue: TCP_KEEPALIVE)
        #else
        NIOBSDSocket.Option(rawValue: TCP_KEEPIDLE)
        #endif
    }

    package let channel: any Channel
    private var incoming: AsyncStream<ByteBuffer>.Iterator
    private var buffer = ByteBuffer()

    /// Connects; if `readsByItself` is false, nothing is read from the socket.
    package init(to address: IngestServer.Address, readsByItself: Bool = true) async throws {
        let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
        incoming = stream.makeAsyncIterator()
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Of a connection that the kernel was still making when the server closed its port, the server's end may vanish without a
            // word. A client that waits for the server to speak notices it by these.
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelOption(.tcpOption(Self.keepaliveIdleTime), value: 1)
            .channelOption(.autoRead, value: readsByItself)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(continuation))
                }
            }
            .connect(host: address.host, port: address.port)
            .get()
    }

    /// Connects, runs `body`, and closes the connection.
    package static func with<Result>(
        _ address: IngestServer.Address,
        _ body: (RawClient) async throws -> Result
    ) async throws -> Result {
        let client = try await RawClient(to: address)
        do {
            let result = try await body(client)
            client.close()
            return result
        } catch {
            client.close()
            throw error
        }
    }

    /// Sends a text and waits until the kernel has accepted it.
    package func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text)).get()
    }

    /// Sends bytes and waits until the kernel has accepted them.
    package func send(bytes: [UInt8]) async throws {
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
    }

    /// Sends a text with a separate write for each byte.
    package func sendByteByByte(_ text: String) async throws {
        for byte in text.utf8 { try await send(bytes: [byte]) }
    }

    /// Sends a request and returns the response.
    package func exchange(_ text: String, hasBody: Bool = true) async throws -> Response {
        try await send(text)
        return try await response(hasBody: hasBody)
    }

    /// Closes the output, and continues reading.
    package func finishSending() async throws {
        try await channel.close(mode: .output).get()
    }

    /// Closes both directions.
    package func close() {
        channel.close(promise: nil)
    }

    /// Closes the connection with a reset.
    package func reset() async throws {
        try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await channel.close().get()
    }

    /// The next response; a response to HEAD and a 1xx response have no body.
    package func response(hasBody: Bool = true) async throws -> Response {
        while true {
            if let response = takeResponse(hasBody: hasBody) { return response }
            guard try await receive() else { throw Interrupted(received: String(buffer: buffer)) }
        }
    }

    /// Everything up to the end of the connection.
    package func rest() async throws -> String {
        while try await receive() {}
        return String(buffer: buffer)
    }

    /// Whether the server closes the connection without another byte.
    package func isAtEnd() async throws -> Bool {
        try await rest().isEmpty
    }

    private func receive() async throws -> Bool {
        guard let bytes = await incoming.next(isolation: #isolation) else { return false }
        buffer.writeImmutableBuffer(bytes)
        return true
    }

    private func takeResponse(hasBody: Bool) -> Response? {
        let text = String(buffer: buffer)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let header = String(text[..<end.lowerBound])
        let status = Int(header.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
        let length = Response(status: status, header: header, body: "").field("content-length").flatMap { Int($0) }
        let bodyLength = hasBody && status >= 200 ? length ?? 0 : 0
        let headerLength = text[..<end.upperBound].utf8.count
        guard buffer.readableBytes >= headerLength + bodyLength else { return nil }
        buffer.moveReaderIndex(forwardBy: headerLength)
        return Response(status: status, header: header, body: buffer.readString(length: bodyLength) ?? "")
    }
}

/// Passes received bytes to a stream, which ends when the server closes its side.
private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let continuation: AsyncStream<ByteBuffer>.Continuation

    init(_ continuation: AsyncStream<ByteBuffer>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        continuation.yield(unwrapInboundIn(data))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { continuation.finish() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        continuation.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
