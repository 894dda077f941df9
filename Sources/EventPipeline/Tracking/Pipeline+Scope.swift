public import EventValidation
public import Logging
public import TrackerKit

extension Pipeline {
    /// Makes a pipeline, runs it while `body` uses it, and shuts it down.
    ///
    ///     try await Pipeline.run(catalog: ShopEvents.catalog, trackers: [.console()], journal: "data/journal") { pipeline in
    ///         try await pipeline.track(ShopEvents.ItemPurchased(stockCode: "85123A", quantity: 6), userID: "17850")
    ///     }
    ///
    /// When `body` has returned or thrown, what it tracked is delivered without lingering, for at most
    /// `Configuration.shutdownTimeout`. With a journal, whatever a tracker has not received by then is delivered after the
    /// next start. Cancelling the task cancels `body`, and skips that last delivery.
    ///
    /// If the pipeline ends while `body` still runs, `track` throws that it is closed, and `flush` returns. That happens when the
    /// configuration limits the attempts to start or to deliver, and on a graceful shutdown of the service that calls this. A
    /// program that runs several services makes a `Pipeline` and adds it to its service group instead.
    ///
    /// - Parameters:
    ///   - catalog: The plan, which the build plugin compiles in.
    ///   - trackers: At most 64, with names that differ in more than case.
    ///   - journal: Where events are kept until every tracker has them. Without a journal they are in memory only.
    ///   - quarantine: The folder for events that a tracker refused. Default: `quarantine` in the journal's folder. Without a
    ///     journal and a folder they are counted, logged and dropped.
    ///   - configuration: The limits. Default: `.journaled` with a journal.
    ///   - logger: Where the pipeline's log goes.
    ///   - body: What to do with the pipeline.
    /// - Returns: What `body` returns.
    /// - Throws: What the initialiser and `run` throw. Otherwise what `body` throws: an error of `run` may be the reason for
    ///   an error of `body`.
    public static func run<Value: Sendable>(
        catalog: EventCatalog,
        trackers: [any Tracker],
        journal: JournalDirectory? = nil,
        quarantine: String? = nil,
        configuration: Configuration? = nil,
        logger: Logger = Logger(label: "sluice"),
        _ body: (Pipeline) async throws -> Value
    ) async throws -> Value {
        let pipeline = try Pipeline(
            catalog: catalog,
            trackers: trackers,
            journal: journal,
            quarantine: quarantine,
            configuration: configuration,
            logger: logger
        )
        async let running: Void = pipeline.run()
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(pipeline))
        } catch {
            result = .failure(error)
        }
        pipeline.shutdown()
        try await running
        return try result.get()
    }
}
