import EventModel
import EventSchema
public import EventValidation
public import Logging
public import TrackerKit

/// Delivers events with a program of yours, in any language.
///
/// With the protocol `lines`, the program is started once and kept. A delivery is written to its standard input, as a header and the
/// canonical line of each event, and it answers on standard output with a line, once the events are where they belong. With `singer`, it is
/// a target of Singer, and run for each delivery. `Documentation/Operate/Trackers.md` describes both.
///
/// If the program ends without having answered, says nothing until the time limit, or answers with something else, it is ended and started
/// again, and the delivery is retried; so an event can be delivered twice, which its `id` shows. On Linux, the program is killed when this process ends, however
/// that happens.
public final class ExecTracker: CheckableTracker, TimedTracker {
    private let configuration: ExecConfiguration
    private let session: SessionOnDemand<any ProgramSession>
    private let clock: RelativeClock

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// The limits of deliveries: far larger ones for a Singer target, each of whose deliveries is a run of the program.
    public var deliveryLimits: DeliveryLimits? { Self.deliveryLimits(of: configuration) }

    // A batch waits for the one before it, and is delivered again to find out which of its events the program does not accept.
    package var longestLoad: Duration { (configuration.timeout + configuration.grace) * 4 }

    /// Creates a tracker; the program is started when the tracker is, or for each delivery to a Singer target.
    public convenience init(_ configuration: ExecConfiguration, logger: Logger) {
        self.init(configuration, logger: logger, clock: ContinuousClock())
    }

    /// Creates a tracker with a clock for the pauses that the program asks for.
    package init(_ configuration: ExecConfiguration, logger: Logger, clock: some Clock<Duration>) {
        let clock = RelativeClock(clock)
        self.configuration = configuration
        self.clock = clock
        session = SessionOnDemand { () throws(TrackerError) in
            switch configuration.protocol {
            case .lines: try LinesSession(configuration, logger: logger, clock: clock)
            case .singer: try SingerSession(configuration, logger: logger, clock: clock)
            }
        }
    }

    /// Checks the command, the names of environment variables, and that no two events have the same stream of a Singer target.
    ///
    /// - Throws: `invalidSettings`.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        try ProgramDescription.check(configuration)
        if configuration.protocol == .singer { try SingerStream.checkNames(of: events(of: catalog)) }
    }

    /// Starts the program, unless it runs; for a Singer target, only checks that the program exists.
    ///
    /// - Throws: `notPrepared` if the program, its directory or a file with an environment variable is missing; `unavailable`, retryable,
    ///   if the system refuses a process or a thread.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await session.get().start()
    }

    /// Starts the program, and asks it with an empty delivery whether it can deliver; a Singer target gets only a state.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        let session: any ProgramSession
        do throws(TrackerError) { session = try self.session.get() } catch { return [error] }
        let names = events(of: pipeline.catalog).map(\.name)
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.problems(names, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// The events that the tracker gets.
    private func events(of catalog: EventCatalog) -> [EventDefinition] {
        let mask = catalog.mask(ofTracker: name)
        return zip(catalog.definitions, catalog.trackerMasks).filter { $0.1 & mask != 0 }.map(\.0)
    }

    /// Sends the events to the program, once it wants any, and waits for its answer.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let session: any ProgramSession
        do throws(TrackerError) { session = try self.session.get() } catch { return .retry(error) }
        let pauseEnd = await session.pauseEnd
        if pauseEnd > clock.now() {
            do { try await clock.sleepUntil(pauseEnd) } catch { return .retry(.cancelled) }
        }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.deliver(delivery, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Ends the program, if it runs: its standard input is closed, and it gets SIGTERM, and after the grace period SIGKILL.
    public func stop() async {
        await session.ifMade?.stop()
    }
}

extension Tracker where Self == ExecTracker {
    /// A tracker that delivers events with a program.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - protocol: How Sluice and the program talk to each other. Default: `lines`.
    ///   - name: The name that refers to the tracker in the plan. Default: `exec`.
    ///   - logger: Logs what the program writes to standard error, and how it ends.
    /// - Returns: A tracker to give to a pipeline, which starts the program.
    public static func exec(
        _ command: [String],
        protocol: ExecProtocol = .lines,
        name: String = ExecConfiguration.defaultName,
        logger: Logger = Logger(label: "sluice")
    ) -> ExecTracker {
        ExecTracker(ExecConfiguration(command: command, protocol: `protocol`, name: name), logger: logger)
    }
}

extension ProgramSession {
    /// `check` as values, because the cancellation handler does not pass typed errors on.
    fileprivate func problems(_ events: [String], _ interrupt: Interrupt) -> [TrackerError] {
        do throws(TrackerError) {
            try check(events, interrupt)
            return []
        } catch {
            return [error]
        }
    }
}
