import EventModel
import EventValidation
import Logging
import ServiceLifecycle
import Synchronization

/// Takes the tombstones of receipts into a running process, also of those that are added while it runs.
///
/// The receipts are files, so that a process knows them before its first delivery, without PostgreSQL, and also after a database was
/// restored from a backup that is older than they are. The folder is looked at once a second. Tombstones are only added: a receipt that
/// disappears, for example because its file system is no longer mounted, still applies until the process ends, which is logged.
final class ReceiptWatch: Service {
    private struct State {
        /// The names of the files at the last look that could read all of them; `nil` before it.
        var names: [String]?
        /// All receipts that were ever read, by their ids.
        var receipts: [String: Receipt] = [:]
        /// How many of them were no longer there at that look.
        var missing = 0
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
    /// - Throws: `ReceiptFolder.Failure` if there is no folder, or if a receipt cannot be read.
    func load() throws(ReceiptFolder.Failure) {
        try takeReceipts()
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
                logger.info("All receipts can be read again.", metadata: ["failures": "\(summary.count)"])
            }
        } catch {
            let summary = state.withLock { $0.failures.failed(because: error.description, now: clock.now()) }
            guard let summary else { return }
            logger.error(
                "The receipts of 'sluice forget' cannot be read or are gone; those that are known still apply.",
                metadata: ["error": "\(error)", "failures": "\(summary.count)"]
            )
        }
    }

    /// - Throws: `ReceiptFolder.Failure` if there is no folder, if a receipt cannot be read, or if one has disappeared.
    private func takeReceipts() throws(ReceiptFolder.Failure) {
        let known = state.withLock { $0 }
        let names = try folder.existingNames()
        let missing = try names == known.names ? known.missing : take(names, known)
        guard missing == 0 else {
            throw ReceiptFolder.Failure(
                description: "\(missing.of("receipt")) disappeared from '\(folder.path)' while this process ran"
            )
        }
    }

    /// Adds the receipts in the folder, whose files have these names, to the known ones; returns how many of those are missing.
    private func take(_ names: [String], _ known: State) throws(ReceiptFolder.Failure) -> Int {
        let found = Dictionary(try folder.read().map { ($0.receipt.id, $0.receipt) }) { $1 }
        let receipts = known.receipts.merging(found) { $1 }
        let missing = receipts.count - found.count
        register.replace(with: Tombstones(of: Array(receipts.values), key: key))
        state.withLock {
            $0.names = names
            $0.receipts = receipts
            $0.missing = missing
        }
        let others = receipts.values.count { !$0.isMade(with: key) }
        if others > 0 {
            logger.error(
                "Receipts were made with another key than privacy.hashKeyFile, so they do not apply.",
                metadata: ["receipts": "\(others)"]
            )
        }
        if known.names != nil || !receipts.isEmpty {
            logger.info("Tombstones of erased people apply.", metadata: ["receipts": "\(receipts.count - others)"])
        }
        return missing
    }
}
