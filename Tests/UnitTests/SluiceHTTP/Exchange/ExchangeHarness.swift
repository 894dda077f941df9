import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Logging
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP1
import PipelineTestSupport
import PortDefinitions
import SluiceHTTP
import SluiceTesting

/// A `RequestExchange` with the real parts with which it decides, and without a channel: the event loop has no thread, and the pipeline
/// gets no batch.
///
/// The steps and the responses are returned as texts, such as `receive`, `submit 2` or the code of a failure.
final class ExchangeHarness {
    /// What connections of one server share.
    final class Server {
        static let now = Timestamp(microseconds: 1_767_225_600_000_000)

        let quarantine: Quarantine
        let keys: WriteKeys
        let context: IngestContext
        let loop: LoopResources
        private let eventLoop = EmbeddedEventLoop()

        init(
            keys: [WriteKey] = [],
            plan: PlanDocuments? = nil,
            pipeline: Pipeline? = nil,
            acknowledgement: Pipeline.AcknowledgementPolicy = .stored,
            _ configure: (inout IngestConfiguration) -> Void = { _ in }
        ) throws {
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let catalog = PipelineHarness.catalog
            quarantine = .discarding(logger: logger)
            let trackers = [ScriptedTracker(name: "alpha"), ScriptedTracker(name: "beta")]
            let pipeline =
                try pipeline
                ?? PipelineHarness(
                    trackers,
                    configuration: .init(acknowledgement: acknowledgement),
                    quarantine: quarantine
                ).pipeline
            self.keys = WriteKeys(catalog: catalog)
            if !keys.isEmpty { try self.keys.replace(with: keys) }
            var configuration = IngestConfiguration()
            configure(&configuration)
            context = IngestContext(
                configuration: configuration,
                connectionLimit: 100,
                keys: self.keys,
                pipeline: pipeline
            )
            loop = LoopResources(
                catalog: catalog,
                plan: plan,
                configuration: configuration,
                server: context,
                eventLoop: eventLoop,
                now: { Self.now }
            )
        }

        /// The number of rejected events that were given to the quarantine, which stores nothing.
        var rejectedEvents: Int { quarantine.statistics.lost }
        /// The memory that is reserved for bodies, batches and responses.
        var reservedBytes: Int { context.budget.reservedBytes }
    }

    let server: Server
    private let peer: Peer
    private var exchange = RequestExchange()
    private var receivedBytes = 0
    private var response: RequestExchange.Response?
    /// The memory of the last response, which is not sent yet.
    private var unsent = Reservation()

    /// Creates a connection of a server; its key may have at most `connectionsPerKey`.
    init(_ server: Server, from address: String = "192.0.2.1", connectionsPerKey: Int = 10) throws {
        self.server = server
        let address = try SocketAddress(ipAddress: address, port: 1)
        peer = Peer(
            ClientAddress(peer: address, proxies: []),
            isEncrypted: false,
            key: ConnectionKey(limit: connectionsPerKey)
        )
    }

    /// Whether the response ends the connection.
    var endsConnection: Bool { !exchange.keepsAlive || response?.endsConnection == true }
    /// The memory of the last response, which counts until that is sent.
    var unsentBytes: Int { unsent.byteCount }

    // MARK: The request

    func begin(
        _ method: HTTPMethod = .POST,
        _ uri: String = "/v1/events",
        _ fields: HTTPHeaders = [:],
        version: HTTPVersion = .http1_1,
        host: String? = "sluice"
    ) -> String {
        var fields = fields
        if let host { fields.add(name: "host", value: host) }
        receivedBytes = 0
        response = nil
        let head = HTTPRequestHead(version: version, method: method, uri: uri, headers: fields)
        return name(exchange.begin(RequestHead(head), from: peer, in: server.loop))
    }

    /// Receives a piece of the body; returns the response if there is no memory for it.
    func keep(_ piece: [UInt8]) -> String? {
        receivedBytes += piece.count
        let step = exchange.keep(ByteBuffer(bytes: piece), total: receivedBytes, in: server.loop)
        return step.map(name)
    }

    func keep(_ piece: String) -> String? { keep(Array(piece.utf8)) }

    /// Begins the check of the body, which is complete.
    func check() -> String { name(exchange.check(in: server.loop, from: peer)) }

    func takeTurn(fromAllowance: Bool = false) -> String {
        name(exchange.takeTurn(fromAllowance: fromAllowance, in: server.loop, from: peer))
    }

    /// Sends a whole request with events; returns the first step that is not one of the body's.
    func send(_ body: [UInt8], to uri: String = "/v1/events", _ fields: HTTPHeaders = [:]) -> String {
        var fields = fields
        fields.add(name: "content-length", value: String(body.count))
        let step = begin(.POST, uri, fields)
        return step == "receive" ? sendBody(body) : step
    }

    func send(_ body: String, to uri: String = "/v1/events", _ fields: HTTPHeaders = [:]) -> String {
        send(Array(body.utf8), to: uri, fields)
    }

    /// Sends the body of a request that has begun.
    func sendBody(_ body: [UInt8]) -> String {
        if let refusal = keep(body) { return refusal }
        var step = check()
        while step.hasPrefix("wait") { step = takeTurn() }
        return step
    }

    // MARK: The response

    /// The plan's schema is rendered, or is too large.
    func rendered(_ outcome: PlanOutcome) -> String { name(exchange.response(with: outcome, in: server.loop)) }

    /// The pipeline has decided about the batch, and the sender is answered.
    func decided(_ outcome: Submission.Outcome, missedCommit: Bool = false) -> String {
        settle(outcome)
        return name(exchange.response(to: outcome, missedCommit: missedCommit, in: server.loop))
    }

    /// The pipeline has decided about the batch, and the sender is gone.
    func settle(_ outcome: Submission.Outcome) { exchange.settle(outcome, in: server.loop) }

    /// The connection stops waiting for the pipeline.
    func takeRemainder() -> Submission.Remainder { exchange.takeRemainder(in: server.loop) }

    /// The connection is closed.
    func abandon() { exchange.abandon() }

    /// Encodes the response and ends the exchange; returns the response's text.
    func answer(isLast: Bool = false, for version: ConnectionVersion = .http1) -> String {
        guard let response else { return "" }
        let encoded = exchange.encode(response, isLast: isLast || endsConnection, for: version, in: server.loop)
        unsent = exchange.end(with: encoded)
        switch encoded {
        case .bytes(let buffer): return String(buffer: buffer)
        case .frames(let header, let body):
            let lines = header.map { "\($0.name): \($0.value)\r\n" }
            return lines.joined() + "\r\n" + (body.map { String(buffer: $0) } ?? "")
        }
    }

    /// The response has been sent.
    func sent() { unsent = Reservation() }

    // MARK: Texts

    private func name(_ step: RequestExchange.Step) -> String {
        switch step {
        case .receiveBody(let expectsContinue): expectsContinue ? "receive after 100" : "receive"
        case .render(_, let events): "render " + (events?.names.joined(separator: ",") ?? "all")
        case .waitForTurn(let isSmall, let hadTurn):
            "wait, " + (isSmall ? "small" : "large") + (hadTurn ? ", again" : "")
        case .submit(let batch): "submit \(batch.count)"
        case .respond(let response): name(response)
        }
    }

    private func name(_ response: RequestExchange.Response) -> String {
        self.response = response
        switch response {
        case .acceptedOne: return "accepted one"
        case .answer(let answer): return answer.status.description
        case .failure(let failure): return failure.code.rawValue
        }
    }
}

extension WriteKey {
    /// A key whose text is its name.
    static func named(
        _ name: String,
        events: [String]? = nil,
        limits: Limits = Limits(),
        origins: [String] = [],
        expires: Timestamp? = nil
    ) -> WriteKey {
        let value = Value(text: name, created: ExchangeHarness.Server.now, expires: expires)
        return WriteKey(name: name, values: [value], events: events, limits: limits, origins: origins)
    }
}

extension HTTPHeaders {
    /// The header field with a key.
    static func key(_ name: String) -> HTTPHeaders { ["authorization": "Bearer \(name)"] }
}
