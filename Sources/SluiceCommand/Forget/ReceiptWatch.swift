import EventModel
import EventValidation
import Logging
import ServiceLifecycle
import Synchronization

/// Takes the tombstones of receipts into a running process, also of those that are added while it runs.
///
/// The receipts are files, so that a process knows them before its first delivery, without PostgreSQL, and also after a database was
/// restored from a backup that is older than they are. The folder is looked at once a second. While it cannot be read, the tombstones
/// stay as they were, which is logged.
final class ReceiptWatch: Service {
    private struct State {
        /// The names of the files at the last successful look; `nil` before it.
        var names: [String]?
        var failures = FailureEpisode()
    }

    private let folder: ReceiptFolder
    private let key: HashKey
    private let register: TombstoneRegister
    private let logger: Logger
    private let clock: RelativeClock
    private let state = Mutex(State())

    /// Makes a service for a folder; `clock` measures the time between two looks.
    init(
        _ folder: ReceiptFolder,
        key: HashKey,
        into register: TombstoneRegister,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.folder = folder
        self.key = key
        self.register = register
        self.logger = logger
        self.clock = RelativeClock(clock)
    }

    /// Reads the receipts for the first time.
    ///
    /// - Throws: `ReceiptFolder.Failure` if one cannot be read.
    func load() throws(ReceiptFolder.Failure) {
        try takeReceipts()
        if try folder.names() == nil {
            logger.warning("There is no folder with receipts yet.", metadata: ["folder": "\(folder.path)"])
        }
    }

    /// Looks at the folder until a graceful shutdown or cancellation.
    func run() async {
        await cancelWhenGracefulShutdown { await self.watch() }
    }

    /// Looks at the folder until the task is cancelled.
    func watch() async {
        while (try? await clock.sleepUntil(clock.now() + .seconds(1))) != nil { look() }
    }

    /// Takes over new receipts, if there are any.
    func look() {
        do throws(ReceiptFolder.Failure) {
            try takeReceipts()
            if let summary = state.withLock({ $0.failures.ended(now: clock.now()) }) {
                logger.info("The receipts can be read again.", metadata: ["failures": "\(summary.count)"])
            }
        } catch {
            let summary = state.withLock { $0.failures.failed(because: error.description, now: clock.now()) }
            guard let summary else { return }
            logger.error(
                "The receipts of 'sluice forget' cannot be read; those that are known still apply.",
                metadata: ["error": "\(error)", "failures": "\(summary.count)"]
            )
        }
    }

    private func takeReceipts() throws(ReceiptFolder.Failure) {
        let known = state.withLock { $0.names }
        guard let names = try folder.names() else {
            // Nobody has been forgotten yet.
            guard let known, !known.isEmpty else { return }
            throw ReceiptFolder.Failure(description: "there is no folder '\(folder.path)'")
        }
        guard names != known else { return }
        let receipts = try folder.read().map(\.receipt)
        register.replace(with: Tombstones(of: receipts, key: key))
        state.withLock { $0.names = names }
        let others = receipts.count { !$0.isMade(with: key) }
        if others > 0 {
            logger.error(
                "Receipts were made with another key than privacy.hashKeyFile, so they do not apply.",
                metadata: ["receipts": "\(others)"]
            )
        }
        if known != nil || !receipts.isEmpty {
            logger.info("Tombstones of erased people apply.", metadata: ["receipts": "\(receipts.count - others)"])
        }
    }
}
