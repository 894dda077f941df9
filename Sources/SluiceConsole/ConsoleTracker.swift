public import EventValidation
public import TrackerKit

/// Writes a line for each event to standard output, or to another file descriptor.
///
/// It is the shortest tracker, and an example for your own. The lines of a delivery are written together and in order.
/// If the output blocks, so does the tracker, on a thread of its own; a cancelled delivery returns the events whose
/// lines were not written completely, and the next delivery writes these lines again from their beginning.
public final class ConsoleTracker: Tracker {
    let configuration: ConsoleConfiguration
    private let session: SessionOnDemand<ConsoleSession>

    /// Creates a tracker.
    public init(_ configuration: ConsoleConfiguration = ConsoleConfiguration()) {
        self.configuration = configuration
        session = SessionOnDemand { () throws(TrackerError) in try ConsoleSession(configuration) }
    }

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Starts the thread that writes.
    ///
    /// - Throws: `unavailable`, retryable, if the system refuses a thread.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        _ = try session.get()
    }

    /// Writes a line for each event.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let session: ConsoleSession
        do throws(TrackerError) { session = try self.session.get() } catch { return .retry(error) }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.deliver(delivery, format: configuration.format, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }
}

extension Tracker where Self == ConsoleTracker {
    /// A tracker that writes a line for each event to standard output.
    ///
    /// - Parameters:
    ///   - format: The form of a line. Default: `pretty`.
    ///   - name: The name that refers to the tracker in the plan. Default: `console`.
    /// - Returns: A tracker to give to a pipeline, which starts it.
    public static func console(
        _ format: ConsoleConfiguration.Format = .pretty,
        name: String = ConsoleConfiguration.defaultName
    ) -> ConsoleTracker {
        ConsoleTracker(ConsoleConfiguration(name: name, format: format))
    }
}
