import EventModel
import EventSchema
public import EventValidation
public import Logging
public import TrackerKit

/// Delivers events with a program of yours, in any language.
///
/// The program is started once and kept. A delivery is written to its standard input, as a header and the canonical line of each event,
/// and it answers on standard output with a line, once the events are where they belong. `Documentation/Operate/Trackers.md` describes both.
///
/// A program that ends, says nothing until the time limit, or answers with something else is ended and started again, and the delivery is
/// retried; so an event can be delivered twice, which its `id` shows. On Linux, the program is killed when this process ends, however
/// that happens.
public final class ExecTracker: CheckableTracker {
    private let configuration: ExecConfiguration
    private let session: SessionOnDemand<ExecSession>
    private let clock: RelativeClock

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Creates a tracker; the program is started when the tracker is.
    public convenience init(_ configuration: ExecConfiguration, logger: Logger) {
        self.init(configuration, logger: logger, clock: ContinuousClock())
    }

    /// Creates a tracker with a clock for the pauses that the program asks for.
    package init(_ configuration: ExecConfiguration, logger: Logger, clock: some Clock<Duration>) {
        let clock = RelativeClock(clock)
        self.configuration = configuration
        self.clock = clock
        session = SessionOnDemand { () throws(TrackerError) in
            try ExecSession(configuration, logger: logger, clock: clock)
        }
    }

    /// Checks the command and the names of environment variables.
    ///
    /// - Throws: `invalidSettings`.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        try ProgramDescription.check(configuration)
    }

    /// Starts the program, unless it runs.
    ///
    /// - Throws: `notPrepared` if the program, its directory or a file with an environment variable is missing; `unavailable`, retryable,
    ///   if the system refuses a process or a thread.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await session.get().start()
    }

    /// Starts the program, and asks it with an empty delivery whether it can deliver.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        let session: ExecSession
        do throws(TrackerError) { session = try self.session.get() } catch { return [error] }
        let events = pipeline.catalog.definitions.filter { definition in
            definition.trackers.contains { $0.lowercased() == name.lowercased() }
        }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.problems(events.map(\.name), interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Sends the events to the program, once it wants any, and waits for its answer.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let session: ExecSession
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

    /// Ends the program: its standard input is closed, and it gets SIGTERM, and after the grace period SIGKILL.
    public func stop() async {
        await session.ifMade?.stop()
    }
}

extension Tracker where Self == ExecTracker {
    /// A tracker that delivers events with a program.
    ///
    /// - Parameters:
    ///   - command: The program and its arguments.
    ///   - name: The name that refers to the tracker in the plan. Default: `exec`.
    ///   - logger: Logs what the program writes to standard error, and how it ends.
    /// - Returns: A tracker to give to a pipeline; the program starts when the pipeline starts it.
    public static func exec(
        _ command: [String],
        name: String = ExecConfiguration.defaultName,
        logger: Logger = Logger(label: "sluice")
    ) -> ExecTracker {
        ExecTracker(ExecConfiguration(command: command, name: name), logger: logger)
    }
}

extension ExecSession {
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
