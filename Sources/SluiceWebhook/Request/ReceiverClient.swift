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
    private let receiver: HTTPReceiver
    private let clock: RelativeClock
    /// The client; `nil` before the start and after the end.
    private let client = Mutex<HTTPClient?>(nil)

    init(_ receiver: HTTPReceiver, clock: RelativeClock) {
        self.receiver = receiver
        self.clock = clock
    }

    /// Reads the certificates and makes a client, unless there is one.
    ///
    /// - Throws: `notPrepared` if a file is missing or unusable.
    func start() async throws(TrackerError) {
        guard client.withLock({ $0 == nil }) else { return }
        let tls = try await Self.blocking { [receiver] () throws(TrackerError) in try Self.tls(of: receiver) }
        client.withLock { client in
            if client == nil { client = HTTPClient(configuration: configuration(tls)) }
        }
    }

    /// Closes the connections; waits for at most a second.
    func stop() async {
        let client = client.withLock { client in
            defer { client = nil }
            return client
        }
        guard let client else { return }
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
        guard let client = client.withLock({ $0 }) else { throw .cancelled }
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
            throw Task.isCancelled ? .cancelled : WebhookErrors.noAnswer(error)
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

    private static func tls(of receiver: HTTPReceiver) throws(TrackerError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        // How long a vanished receiver is waited for when a connection is closed.
        tls.shutdownTimeout = .seconds(1)
        if let file = receiver.caFile {
            tls.trustRoots = .certificates(try certificates(in: file))
        }
        if let file = receiver.certificateFile {
            tls.certificateChain = try certificates(in: file).map { .certificate($0) }
        }
        if let file = receiver.keyFile {
            do {
                tls.privateKey = .privateKey(try NIOSSLPrivateKey(file: file, format: .pem))
            } catch {
                throw WebhookErrors.notPrepared(
                    "The file '\(file)' does not contain a private key in PEM, or cannot be read."
                )
            }
        }
        do {
            // A key that is not the certificate's is found here, and not at each connection.
            _ = try NIOSSLContext(configuration: tls)
        } catch {
            throw WebhookErrors.notPrepared(
                receiver.certificateFile == nil
                    ? "The system has no certificates of authorities; set caFile."
                    : "The certificate and the key of the client do not belong together."
            )
        }
        return tls
    }

    private static func certificates(in file: String) throws(TrackerError) -> [NIOSSLCertificate] {
        if let certificates = try? NIOSSLCertificate.fromPEMFile(file), !certificates.isEmpty { return certificates }
        throw WebhookErrors.notPrepared("The file '\(file)' does not contain certificates in PEM, or cannot be read.")
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
