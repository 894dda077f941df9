import EventModel
public import EventValidation
public import Logging
public import TrackerKit

/// Writes events to files as lines of JSON, compressed or not, which `sluice replay` and other programs read.
///
/// A path with placeholders says which file an event belongs in. A file is written under a name of its own, in the folder `.partial`, and
/// gets its name once it is complete: when it is large or old enough, or when the tracker stops. A delivery is a member of gzip of its
/// own in each of its files, and is settled once the files are synced; so what a killed process leaves is readable.
///
/// **Repetition.** A delivery that fails is cut off again. After a crash, the next start of a tracker with the same name, path and node
/// cuts off what is not whole, and completes the files. Events that were written and not settled are then there twice; their `id`
/// shows it.
///
/// **Other processes.** Each file has a lock, so several processes and trackers can have the same path. A file never replaces another:
/// the second of a name has `+2` in it.
public final class FileTracker: CheckableTracker {
    private let configuration: FileConfiguration
    private let session: SessionOnDemand<FileSession>

    /// The name that refers to the tracker in the plan: the configuration's.
    public var name: String { configuration.name }

    /// Creates a tracker; it opens no file before it is started.
    public convenience init(_ configuration: FileConfiguration, logger: Logger) {
        self.init(configuration, logger: logger, clock: ContinuousClock())
    }

    /// Creates a tracker with a clock for the ages of files.
    package init(_ configuration: FileConfiguration, logger: Logger, clock: some Clock<Duration>) {
        let clock = RelativeClock(clock)
        self.configuration = configuration
        session = SessionOnDemand { () throws(TrackerError) in
            try FileSession(configuration, logger: logger, clock: clock)
        }
    }

    /// Checks the path.
    ///
    /// - Throws: `invalidSettings`.
    public func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        do throws(PathTemplate.Problem) {
            _ = try FilePaths(configuration)
        } catch {
            throw FileErrors.invalidSettings(error)
        }
    }

    /// Creates the folder above the first placeholder, and completes the files that a killed process has left.
    ///
    /// - Throws: `notPrepared` if the folder above that one is missing; `misconfigured` if this process may not write there;
    ///   `unavailable`, retryable, if the disk is full or fails, or the system refuses a thread.
    public func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await session.get().start()
    }

    /// Checks that files can be made in the folder, and removes them again.
    public func problems(in pipeline: PipelineOutline) async -> [TrackerError] {
        do throws(TrackerError) { return await (try session.get()).problems() } catch { return [error] }
    }

    /// Appends the events to their files, and returns once these are synced.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let session: FileSession
        do throws(TrackerError) { session = try self.session.get() } catch { return .retry(error) }
        let interrupt = Interrupt()
        return await withTaskCancellationHandler {
            await session.deliver(delivery, interrupt)
        } onCancel: {
            interrupt.raise()
        }
    }

    /// Completes all files.
    public func stop() async {
        await session.ifMade?.stop()
    }
}

extension Tracker where Self == FileTracker {
    /// A tracker that writes events to files.
    ///
    /// - Parameters:
    ///   - path: The path of the files, with the placeholders `{event}`, `{yyyy}`, `{MM}`, `{dd}`, `{HH}` and `{node}`; with `.gz` at its
    ///     end, they are compressed.
    ///   - name: The name that refers to the tracker in the plan. Default: `file`.
    ///   - logger: Logs what is wrong with files.
    /// - Returns: A tracker to give to a pipeline; it opens files once the pipeline starts it.
    public static func file(
        _ path: String,
        name: String = FileConfiguration.defaultName,
        logger: Logger = Logger(label: "sluice")
    ) -> FileTracker {
        FileTracker(FileConfiguration(path: path, name: name), logger: logger)
    }
}
