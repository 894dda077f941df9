import EventModel
public import EventValidation
public import Logging
public import TrackerKit

/// Delivers events as lines of JSON over TCP or TLS, which Logstash, Vector, Fluent Bit and rsyslog read.
///
/// TCP has no acknowledgement by the receiver. A delivery is delivered when the receiver's *kernel* has acknowledged all of its bytes, so
/// events are lost that this kernel had acknowledged and the receiver had not read when it ended. Everything that was not acknowledged
/// is sent again, so an event can arrive twice, which its `id` shows. `Documentation/Operate/Trackers.md` has the details.
///
/// With TLS, version 1.2 is used: it is the last one in which a server has checked the client's certificate before the first event is
/// sent.
public final class SocketTracker: CheckableTracker {
    private let configuration: SocketConfiguration
    private let logger: Logger
    private let clock: RelativeClock
    private let session: SocketSession

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Creates a tracker; it connects when it is started.
    public convenience init(_ configuration: SocketConfiguration, logger: Logger) {
        self.init(configuration, logger: logger, clock: ContinuousClock())
    }

    /// Creates a tracker with a clock for its time limits.
    package init(_ configuration: SocketConfiguration, logger: Logger, clock: some Clock<Duration>) {
        self.configuration = configuration
        self.logger = logger
        self.clock = RelativeClock(clock)
        session = SocketSession(configuration, logger: logger, clock: self.clock)
    }

    /// Checks the receiver's address, the names of fields, and which files are stated.
    ///
    /// - Throws: `invalidSettings`.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        if let problem = configuration.problems.first { throw SocketErrors.invalidSettings(problem) }
    }

    /// Connects, unless there is a connection.
    ///
    /// - Throws: `notPrepared` if a file is missing or has not what it should have; `misconfigured` if the two sides do not agree upon
    ///   TLS; `unavailable` or `timeout`, retryable, if the receiver cannot be reached.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await session.start()
    }

    /// Makes a connection of its own, and sends nothing.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        let session = SocketSession(configuration, logger: logger, clock: clock)
        do throws(TrackerError) { try await session.start() } catch { return [error] }
        await session.stop()
        return []
    }

    /// Sends the events, and waits until the receiver's kernel has acknowledged their bytes; refuses nothing.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        await session.deliver(delivery)
    }

    /// Ends the connection.
    public func stop() async {
        await session.stop()
    }
}

extension Tracker where Self == SocketTracker {
    /// A tracker that sends events as lines of JSON over TCP or TLS.
    ///
    /// - Parameters:
    ///   - url: The receiver, as `tcp://host:port` or `tls://host:port`.
    ///   - name: The name that refers to the tracker in the plan. Default: `socket`.
    ///   - logger: Logs when acknowledged events may be lost.
    /// - Returns: A tracker to give to a pipeline; it connects when the pipeline starts it.
    public static func socket(
        _ url: String,
        name: String = SocketConfiguration.defaultName,
        logger: Logger = Logger(label: "sluice")
    ) -> SocketTracker {
        SocketTracker(SocketConfiguration(url: url, name: name), logger: logger)
    }
}
