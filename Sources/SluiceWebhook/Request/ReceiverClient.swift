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

    /// Reads the certificates, unless that was done.
    ///
    /// - Throws: `notPrepared` if one is missing or unusable.
    func start() async throws(TrackerError) {
        guard client.withLock({ $0 == nil }) else { return }
        let tls = try await Self.blocking { [receiver] () throws(TrackerError) in try Self.tls(of: receiver) }
        client.withLock { $0 = HTTPClient(configuration: configuration(tls)) }
    }

    /// Closes the connections.
    func stop() async {
        let client = client.withLock { client in
            defer { client = nil }
            return client
        }
        try? await client?.shutdown()
    }

    /// Sends a request, and reads its answer.
    ///
    /// - Throws: Why there is no answer.
    func send(_ request: HTTPClientRequest) async throws(TrackerError) -> ReceiverAnswer {
        try await start()
        guard let client = client.withLock({ $0 }) else { throw .cancelled }
        let limit = clock.now() + receiver.requestTimeout
        do {
            return try await withThrowingTaskGroup(of: ReceiverAnswer.self) { [clock] group in
                group.addTask { try await Self.answer(to: request, from: client) }
                // The client's own limits end with the head of the answer, so a body that never ends needs this one.
                group.addTask {
                    try await clock.sleepUntil(limit)
                    throw WebhookErrors.timeout
                }
                defer { group.cancelAll() }
                guard let answer = try await group.next() else { throw WebhookErrors.timeout }
                return answer
            }
        } catch {
            throw Task.isCancelled ? .cancelled : WebhookErrors.noAnswer(error)
        }
    }

    private static func answer(to request: HTTPClientRequest, from client: HTTPClient) async throws -> ReceiverAnswer {
        let response = try await client.execute(request, deadline: .distantFuture)
        var body: [UInt8] = []
        for try await chunk in response.body {
            body.append(contentsOf: chunk.readableBytesView.prefix(ReceiverAnswer.maximumBodyBytes - body.count))
            if body.count == ReceiverAnswer.maximumBodyBytes { break }
        }
        return ReceiverAnswer(
            status: Int(response.status.code),
            retryAfter: response.headers.first(name: "retry-after"),
            body: body
        )
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
