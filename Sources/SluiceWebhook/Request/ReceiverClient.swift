import AsyncHTTPClient
import EventModel
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
import TrackerKit

/// The client of one receiver: its connections, their certificates, and the time that a request may take.
final class ReceiverClient: Sendable {
    /// The connections that were made with the same certificates; they are closed once no request uses them.
    private final class Connections: Sendable {
        let files: CertificateFiles
        let client: HTTPClient
        private let configuration: HTTPClient.Configuration

        init(_ files: CertificateFiles, _ configuration: HTTPClient.Configuration) {
            self.files = files
            self.configuration = configuration
            client = HTTPClient(configuration: configuration)
        }

        deinit {
            // On its own, because nobody waits for the end of connections that are idle.
            Task { [client] in try? await client.shutdown() }
        }

        /// New connections with the same certificates.
        func replacement() -> Connections { Connections(files, configuration) }
    }

    private let receiver: HTTPReceiver
    private let clock: RelativeClock
    /// The connections for new requests; `nil` before the start and after the end.
    private let connections = Mutex<Connections?>(nil)

    init(_ receiver: HTTPReceiver, clock: RelativeClock) {
        self.receiver = receiver
        self.clock = clock
    }

    /// Reads the certificates and makes a client, unless there is one with these certificates.
    ///
    /// - Throws: `notPrepared` if a file is missing or unusable.
    func start() async throws(TrackerError) {
        let current = connections.withLock { $0 }
        if current != nil, !receiver.hasCertificates { return }
        let (files, tls) = try await Self.blocking { [receiver] () throws(TrackerError) in
            let files = try CertificateFiles(receiver)
            return (files, files == current?.files ? nil : try files.tls(of: receiver))
        }
        guard let tls else { return }
        let next = Connections(files, configuration(tls))
        connections.withLock { $0 = next }
    }

    /// Reads the certificates again, so that further requests use replaced ones; does nothing before the start and after the end.
    ///
    /// - Throws: `notPrepared` if a file is missing or unusable.
    func renew() async throws(TrackerError) {
        if receiver.hasCertificates, connections.withLock({ $0 != nil }) { try await start() }
    }

    /// Closes the connections; waits for at most a second.
    func stop() async {
        guard let client = connections.withLock({ $0.take() })?.client else { return }
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        // On its own, because the library waits for connections that are being opened, which can take as long as their time limit.
        Task {
            try? await client.shutdown()
            continuation.finish()
        }
        await withTaskGroup { [clock] group in
            group.addTask { for await _ in ends {} }
            group.addTask { try? await clock.sleepUntil(clock.now() + .seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Sends a request, and reads its answer.
    ///
    /// With `sufficientBytes`, the status alone is the answer: no more of the body is read, and no longer than a second.
    ///
    /// - Throws: Why there is no answer.
    func send(
        _ request: HTTPClientRequest,
        until sufficientBytes: Int?
    ) async throws(TrackerError) -> ReceiverAnswer {
        guard let connections = connections.withLock({ $0 }) else { throw .cancelled }
        // Replaced ones are closed when the last request that uses them has ended.
        defer { withExtendedLifetime(connections) {} }
        let client = connections.client
        do {
            let head = try await within(receiver.requestTimeout) {
                try await client.execute(request, deadline: .distantFuture)
            }
            let limit = sufficientBytes ?? ReceiverAnswer.maximumBodyBytes
            let body = Mutex<[UInt8]>([])
            do {
                try await within(sufficientBytes == nil ? receiver.requestTimeout : .seconds(1)) {
                    for try await chunk in head.body {
                        let isSufficient = body.withLock { body in
                            body.append(contentsOf: chunk.readableBytesView.prefix(limit - body.count))
                            return body.count == limit
                        }
                        if isSufficient { break }
                    }
                }
            } catch {
                if sufficientBytes == nil { throw error }
            }
            return ReceiverAnswer(
                status: Int(head.status.code),
                retryAfter: head.headers.first(name: "retry-after"),
                body: body.withLock { $0 }
            )
        } catch {
            let reason = Task.isCancelled ? .cancelled : WebhookErrors.noAnswer(error)
            if reason.code == .timeout { replace(connections) }
            throw reason
        }
    }

    /// Lets further requests use new connections.
    ///
    /// With HTTP/2, a request that has had no answer ends only its stream, and the next requests would use the same connection, even if the
    /// receiver's machine has vanished.
    private func replace(_ silent: Connections) {
        connections.withLock { current in
            if current === silent { current = silent.replacement() }
        }
    }

    /// The result of a function; throws `timeout` if it takes longer.
    private func within<Value: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { [clock] group in
            let end = clock.now() + limit
            group.addTask { try await body() }
            group.addTask {
                try await clock.sleepUntil(end)
                throw WebhookErrors.timeout
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw WebhookErrors.timeout }
            return value
        }
    }

    // MARK: Configuration

    private func configuration(_ tls: TLSConfiguration) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow,
            timeout: .init(connect: TimeAmount(receiver.connectTimeout)),
            decompression: .disabled
        )
        // The pipeline retries.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, receiver.concurrency)
        return configuration
    }

    /// Runs a function that reads files on a thread for that.
    static func blocking<Value: Sendable>(
        _ body: @escaping @Sendable () throws(TrackerError) -> Value
    ) async throws(TrackerError) -> Value {
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                do throws(TrackerError) { return Result<Value, TrackerError>.success(try body()) } catch {
                    return .failure(error)
                }
            }.get()
        } catch {
            throw (error as? TrackerError) ?? .cancelled
        }
    }
}
