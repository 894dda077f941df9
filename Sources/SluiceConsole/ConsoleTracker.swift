public import EventValidation
public import TrackerKit

/// Writes a line an event to standard output: the shortest tracker there is.
///
/// The lines of a delivery are written together and in order. When the output stands still, so does the tracker, on a
/// thread of its own; a delivery that is cancelled meanwhile returns with what was not written whole. A line that was
/// cut off is written again, whole, by the next delivery.
public final class ConsoleTracker: Tracker {
    private let configuration: ConsoleConfiguration
    private let output: SessionOnDemand<ConsoleOutput>

    /// Makes a tracker that writes as told.
    public init(_ configuration: ConsoleConfiguration = ConsoleConfiguration()) {
        self.configuration = configuration
        output = SessionOnDemand { () throws(TrackerError) in
            try ConsoleOutput(fileDescriptor: configuration.fileDescriptor)
        }
    }

    /// The name by which the plan's events name this tracker.
    public var name: String { configuration.name }

    /// Starts the thread that writes.
    ///
    /// - Throws: `unavailable`, retryable, where there is no thread to be had.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        _ = try output.get()
    }

    /// Writes a line an event.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let output: ConsoleOutput
        do throws(TrackerError) { output = try self.output.get() } catch { return .retry(error) }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await output.write(delivery, format: configuration.format, interrupt: interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }
}
