public import Sluice

/// Appends the events of each delivery to one file: a tracker that gets many events at once and makes calls that block.
public struct LogFileTracker: Tracker {
    /// The name that the plan's events refer to.
    public let name = "log"
    private let path: String
    private let file: LogFile

    /// Creates a tracker that appends to the file at `path`, which must exist when the tracker starts.
    ///
    /// - Throws: `unavailable`, retryable, if the system refuses a thread.
    public init(path: String) throws(TrackerError) {
        self.path = path
        file = try LogFile(path: path)
    }

    /// Checks that the path is absolute, without reading the file.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        if path.hasPrefix("/") { return }
        throw TrackerError(code: .invalidSettings, message: "The path must begin with '/'.", isRetryable: false)
    }

    /// Opens the file.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await file.open()
    }

    /// Appends a line for each event; either all events are delivered, or all are to be retried.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        await file.append(delivery)
    }

    /// Closes the file.
    public func stop() async {
        await file.close()
    }
}

extension LogFileTracker: CheckableTracker {
    /// Opens the file, and writes nothing.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        do throws(TrackerError) {
            try await file.open()
            return []
        } catch {
            return [error]
        }
    }
}
