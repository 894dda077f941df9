public import EventModel
import Synchronization

/// Sends typed events to a Sluice server, through a queue on disk.
///
/// `track` returns when the event is in the queue; it never waits for the network. What it has queued survives the end of the
/// process, however it ends, and is sent by the next process that opens the same folder. `run` sends the events in their order, in
/// batches, and removes each batch once the server has answered. An event keeps its id, so one that has to be sent again after a
/// lost answer is not counted twice by a destination that knows ids, such as PostgreSQL.
///
/// The queue is not synced to the disk: a power failure, or a crash of the system, may lose the last events.
///
/// Tested on Linux; Apple's platforms are untested.
public final class EventClient: Sendable {
    let configuration: Configuration
    let transport: any Transport
    let clock: RelativeClock
    private let now: @Sendable () -> Timestamp
    let jitter: @Sendable () -> Double
    let state: Mutex<ClientState>

    /// Opens the queue.
    ///
    /// - Throws: `ClientError`: `misconfigured` if a setting is out of range, `locked` if another process has the queue open, and
    ///   `unusable` if the folder cannot be read or written.
    public convenience init(_ configuration: Configuration) throws {
        try self.init(
            configuration,
            transport: URLSessionTransport(
                url: configuration.url,
                key: configuration.key,
                timeout: configuration.timeout
            ),
            clock: ContinuousClock()
        )
    }

    package init(
        _ configuration: Configuration,
        transport: any Transport,
        clock: some Clock<Duration>,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) throws {
        if let problem = configuration.problem { throw ClientError(.misconfigured, problem) }
        self.configuration = configuration
        self.transport = transport
        self.clock = RelativeClock(clock)
        self.now = now
        self.jitter = jitter
        let queue = try QueueFolder(path: configuration.folder, limits: configuration.limits)
        state = Mutex(ClientState(queue: queue, sending: SendState(linger: configuration.linger)))
    }

    // MARK: Tracking

    /// Checks an event and appends it to the queue.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - context: Who did it, and further attributes.
    ///   - id: The idempotency key. Default: a new UUID of version 7.
    ///   - time: When it happened. Default: now.
    /// - Returns: The event's id.
    /// - Throws: `InvalidEvent` if the event does not follow the plan; `ClientError` with `full` or `unusable` if it cannot be queued.
    @discardableResult
    public func track(
        _ event: some AnalyticsEvent,
        context: EventContext = EventContext(),
        id: EventID? = nil,
        time: Timestamp? = nil
    ) throws -> EventID {
        let time = time ?? now()
        let id = id ?? state.withLock { $0.ids.next(at: time) }
        let line = try EventLine.encode(event, context, id: id, time: time)
        let woken = try state.withLock { state in
            if try state.queue.append(line) { state.sending.began(now: clock.now()) }
            return state.wake()
        }
        woken?.resume()
        return id
    }

    /// The size of the events that are queued, in bytes.
    public var queuedBytes: Int { state.withLock { $0.queue.byteCount } }
}
