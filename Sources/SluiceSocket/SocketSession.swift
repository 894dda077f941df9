import EventModel
import Logging
import Synchronization
import TrackerKit

/// The connection to the receiver, which is opened when it is needed.
actor SocketSession {
    private let configuration: SocketConfiguration
    private let clock: RelativeClock
    private let losses: LossLog
    private var opened: (connection: ReceiverConnection, lines: EventLines)?

    init(_ configuration: SocketConfiguration, logger: Logger, clock: RelativeClock) {
        self.configuration = configuration
        self.clock = clock
        losses = LossLog(configuration.name, logger: logger, clock: clock)
    }

    /// Connects, unless there is a connection.
    func start() async throws(TrackerError) {
        _ = try await connection()
    }

    /// Sends the events, and waits until the receiver's kernel has acknowledged them.
    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        if delivery.count == 0 { return .delivered }
        do throws(TrackerError) {
            let (connection, lines) = try await connection()
            try await connection.send(delivery, as: lines)
            return .delivered
        } catch {
            opened?.connection.close()
            opened = nil
            return .retry(error)
        }
    }

    /// Ends the connection.
    func stop() async {
        await opened?.connection.end()
        opened = nil
    }

    private func connection() async throws(TrackerError) -> (ReceiverConnection, EventLines) {
        if let opened, await opened.connection.isOpen() { return opened }
        opened = nil
        guard let address = ReceiverAddress(configuration.url) else {
            // `checkSettings` finds it before.
            throw SocketErrors.unavailable("The setting url is invalid.")
        }
        let files = try await ConnectionFiles.reading(configuration, isSecured: address.isSecured)
        let target = ReceiverTarget(
            address: address,
            tls: files.tls,
            connectTimeout: configuration.connectTimeout,
            acknowledgementTimeout: configuration.acknowledgementTimeout,
            clock: clock,
            onLoss: { [losses] in losses.report() }
        )
        let connection = try await ReceiverConnection.open(target)
        opened = (connection, files.lines)
        return (connection, files.lines)
    }
}

/// Logs that acknowledged events may be lost, also if connections break again and again.
private final class LossLog: Sendable {
    private let tracker: String
    private let logger: Logger
    private let clock: RelativeClock
    private let episode = Mutex(FailureEpisode())

    init(_ tracker: String, logger: Logger, clock: RelativeClock) {
        self.tracker = tracker
        self.logger = logger
        self.clock = clock
    }

    func report() {
        let now = clock.now()
        guard let summary = episode.withLock({ $0.failed(now: now) }) else { return }
        logger.warning(
            "The connection to the receiver broke; events that its kernel had acknowledged, but that it had not read, may be lost.",
            metadata: ["tracker": "\(tracker)", "connections": "\(summary.count)"]
        )
    }
}
