import EventModel
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TrackerKit

/// A connection to a receiver, over TCP or TLS.
final class ReceiverConnection: Sendable {
    /// How many bytes of a delivery are copied and passed to the kernel at a time; a longer line is copied as a whole.
    ///
    /// A receiver has the time limit for each chunk, so a slow one needs small chunks.
    private static let chunkBytes = 16 << 10
    /// How long the receiver may take to close its side, after this one is closed.
    private static let endTimeout = Duration.seconds(1)

    fileprivate let channel: any Channel
    private let handler: NIOLoopBound<ConnectionHandler>
    /// Succeeds once events can be sent.
    fileprivate let ready: EventLoopFuture<Void>
    private let clock: RelativeClock
    private let timeout: Duration

    /// Adds the handlers to a new channel, on its event loop.
    fileprivate init(_ channel: any Channel, _ target: ReceiverTarget) throws {
        let loop = channel.eventLoop
        let tls = try target.tls.map { try NIOSSLClientHandler(context: $0, serverHostname: target.serverHostname) }
        let promise = loop.makePromise(of: Void.self)
        let handler = ConnectionHandler(isSecured: tls != nil, ready: promise, onLoss: target.onLoss)
        do {
            if let tls { try channel.pipeline.syncOperations.addHandler(tls) }
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            promise.fail(error)
            throw error
        }
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: loop)
        ready = promise.futureResult
        clock = target.clock
        timeout = target.acknowledgementTimeout
    }

    /// Connects, and agrees upon TLS.
    ///
    /// - Throws: `unavailable`, `timeout`, `misconfigured` if the two sides do not agree upon TLS, or `cancelled`.
    static func open(_ target: ReceiverTarget) async throws(TrackerError) -> ReceiverConnection {
        let opening = Opening(target, on: MultiThreadedEventLoopGroup.singleton.any())
        return try await target.clock.limit(
            target.connectTimeout,
            else: SocketErrors.connectTimeout,
            abandon: { opening.abandon() },
            { () async throws(TrackerError) in
                do { return try await opening.connect() } catch { throw SocketErrors.opening(error) }
            }
        )
    }

    /// Whether the connection can be used, as far as this side knows.
    ///
    /// If the receiver has closed its side, nobody would acknowledge what is sent; if it does so later, sending fails.
    func isOpen() async -> Bool {
        let answer = channel.eventLoop.submit { [handler] in handler.value.isOpen }
        return (try? await answer.get()) ?? false
    }

    /// Sends the events, and returns when the receiver's kernel has acknowledged all of their bytes.
    ///
    /// After an error the connection cannot be used any more, because a part of a line may have been sent.
    func send(_ delivery: Delivery, as lines: EventLines) async throws(TrackerError) {
        var buffer = channel.allocator.buffer(capacity: Self.chunkBytes)
        for event in delivery {
            lines.append(event, to: &buffer)
            if buffer.readableBytes >= Self.chunkBytes { try await write(&buffer) }
        }
        try await write(&buffer)
        try await waitForAcknowledgement()
    }

    /// Passes the bytes to the kernel, a chunk at a time.
    private func write(_ buffer: inout ByteBuffer) async throws(TrackerError) {
        while buffer.readableBytes > 0, let chunk = buffer.readSlice(length: min(buffer.readableBytes, Self.chunkBytes))
        {
            try await clock.limit(
                timeout,
                else: SocketErrors.acknowledgementTimeout,
                abandon: { self.close() },
                { () async throws(TrackerError) in
                    do {
                        try await self.channel.writeAndFlush(chunk).get()
                    } catch {
                        self.channel.eventLoop.execute { self.handler.value.note(error) }
                        throw SocketErrors.sending(error)
                    }
                }
            )
        }
        buffer.clear()
    }

    private func waitForAcknowledgement() async throws(TrackerError) {
        var wait = AcknowledgementWait(limit: timeout)
        while true {
            switch wait.next(unacknowledged: try await unacknowledgedBytes(), now: clock.now()) {
            case .acknowledged: return
            case .timeout: throw SocketErrors.acknowledgementTimeout
            case .ask(let time):
                do { try await clock.sleepUntil(time) } catch { throw .cancelled }
            }
        }
    }

    private func unacknowledgedBytes() async throws(TrackerError) -> Int {
        let answer = channel.eventLoop.submit { [handler] in try handler.value.unacknowledgedBytes() }
        do { return try await answer.get() } catch { throw SocketErrors.sending(error) }
    }

    /// Closes the connection at once; the kernel still sends what was passed to it.
    func close() {
        channel.close(promise: nil)
    }

    /// Closes this side, so that the receiver sees an orderly end, and waits a moment until it has closed its side.
    ///
    /// What it sends meanwhile is read. Closing a socket with unread bytes would reset the connection, and the receiver might lose
    /// events that it has not read.
    func end() async {
        channel.close(mode: .output, promise: nil)
        do throws(TrackerError) {
            try await clock.limit(
                Self.endTimeout,
                else: SocketErrors.closed,
                abandon: { self.close() },
                { () async throws(TrackerError) in
                    do { try await self.channel.closeFuture.get() } catch { throw SocketErrors.closed }
                }
            )
        } catch {
            // It is closed in any case.
        }
    }
}

/// Which receiver to connect to, and how.
struct ReceiverTarget: Sendable {
    let address: ReceiverAddress
    /// `nil` without TLS.
    let tls: NIOSSLContext?
    let connectTimeout: Duration
    let acknowledgementTimeout: Duration
    let clock: RelativeClock
    /// Is called if the connection breaks after events were acknowledged.
    let onLoss: @Sendable () -> Void

    /// The name that the receiver's certificate has to be for; `nil` for an IP address, which is compared with the certificate's
    /// addresses.
    var serverHostname: String? {
        // The zone of an address, as in `fe80::1%eth0`, says only on which network it is.
        let host = String(address.host.prefix { $0 != "%" })
        let isIPAddress = (try? SocketAddress(ipAddress: host, port: address.port)) != nil
        return isIPAddress ? nil : address.host
    }
}

/// The attempt to open a connection, which can be abandoned at any moment.
private final class Opening: Sendable {
    private struct State {
        var isAbandoned = false
        /// A connection for each address of the receiver that was tried.
        var connections: [ReceiverConnection] = []
    }

    private let target: ReceiverTarget
    private let loop: any EventLoop
    private let opened: EventLoopPromise<ReceiverConnection>
    private let state = Mutex(State())

    init(_ target: ReceiverTarget, on loop: any EventLoop) {
        self.target = target
        self.loop = loop
        opened = loop.makePromise()
    }

    /// Connects, and waits until events can be sent or the attempt is abandoned.
    func connect() async throws -> ReceiverConnection {
        // Whoever abandons the attempt does not wait for the system's search for the name, which cannot be cancelled.
        var bootstrap = ClientBootstrap(group: loop)
            // The clock's limit, which is shorter, abandons the attempt. NIO cannot be told to have no limit.
            .connectTimeout(.hours(24))
            .channelInitializer { channel in channel.eventLoop.makeCompletedFuture { try self.admit(channel) } }
        for (option, value) in SendQueue.options {
            bootstrap = bootstrap.channelOption(option, value: value)
        }
        bootstrap.connect(host: target.address.host, port: target.address.port).whenComplete { result in
            switch result {
            case .success(let channel): self.connected(channel)
            case .failure(let error): self.opened.fail(error)
            }
        }
        return try await opened.futureResult.get()
    }

    /// Closes everything, and lets `connect` return.
    func abandon() {
        let connections = state.withLock { state in
            state.isAbandoned = true
            return state.connections
        }
        for connection in connections { connection.close() }
        opened.fail(TrackerError.cancelled)
    }

    private func admit(_ channel: any Channel) throws {
        let connection = try ReceiverConnection(channel, target)
        let isAbandoned = state.withLock { state in
            state.connections.append(connection)
            return state.isAbandoned
        }
        if isAbandoned { throw TrackerError.cancelled }
    }

    private func connected(_ channel: any Channel) {
        guard let connection = state.withLock({ $0.connections.first { $0.channel === channel } }) else {
            return opened.fail(ChannelError.eof)
        }
        connection.ready.whenComplete { self.opened.completeWith($0.map { connection }) }
    }
}
