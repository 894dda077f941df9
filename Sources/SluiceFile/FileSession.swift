import EventModel
import Gzip
import Logging
import TrackerKit

/// The files of a tracker, and the thread that writes them.
actor FileSession {
    /// How long to wait before a file is given its name again, in case that failed.
    private static let pauseAfterFailure = Duration.seconds(10)
    /// How many complete files may wait for their names before deliveries wait, too.
    private static let maximumWaitingFiles = 1000

    private let configuration: FileConfiguration
    private let paths: FilePaths
    private let logger: Logger
    private let thread: BlockingThread
    private let clock: RelativeClock
    private var table = FileTable()
    private var hasRecovered = false
    /// When complete files are given their names again, after that has failed.
    private var nextAttempt: Duration?
    private var lastFailure: TrackerError?
    /// For the log: files that cannot be given their names.
    private var failures = FailureEpisode()
    private var timer: Task<Void, Never>?
    private var timerEnd: Duration?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ configuration: FileConfiguration, logger: Logger, clock: RelativeClock) throws(TrackerError) {
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        do throws(PathTemplate.Problem) {
            paths = try FilePaths(configuration)
        } catch {
            throw FileErrors.invalidSettings(error)
        }
        thread = try BlockingThread()
    }

    deinit {
        timer?.cancel()
    }

    /// Makes the folder, and completes the files that a killed process has left.
    func start() throws(TrackerError) {
        do {
            let folders = try folders()
            guard !hasRecovered else { return }
            for name in try folders.unfinished.names() where paths.isUnfinished(name) {
                recover(name, in: folders.unfinished)
                // At once, because each of them is open until it has its name.
                completeFiles()
            }
            hasRecovered = true
            schedule()
        } catch {
            throw trackerError(error)
        }
    }

    /// What is wrong with the folder; leaves nothing in it.
    func problems() -> [TrackerError] {
        do {
            let folder: ArchiveFolder
            do throws(SystemFailure) {
                folder = try ArchiveFolder(path: paths.template.root, creates: false)
            } catch {
                guard error.isMissing else { throw error }
                // It is created when the tracker starts.
                folder = try ArchiveFolder(path: paths.template.folderAboveRoot, creates: false)
            }
            try folder.check(with: paths.unfinishedName(), and: paths.unfinishedName())
            return []
        } catch {
            return [trackerError(error)]
        }
    }

    /// Appends the events to their files; either all of them are synced, or none of them is in a file.
    func deliver(_ delivery: Delivery, _ interrupt: Interrupt) -> DeliveryOutcome {
        let groups = LineGroups(delivery, paths).groups
        guard !groups.isEmpty else { return .delivered }
        if table.complete.count >= Self.maximumWaitingFiles {
            completeFiles()
            if table.complete.count >= Self.maximumWaitingFiles, let lastFailure { return .retry(lastFailure) }
        }
        var written: [UnfinishedFile] = []
        defer { schedule() }
        do {
            let folder = try folders().unfinished
            // The first sync of several files that were written brings most of all of them to the disk. All of a chunk are open.
            for chunk in stride(from: 0, to: groups.count, by: FileTable.maximumOpenFiles) {
                let first = written.count
                for group in groups[chunk..<min(chunk + FileTable.maximumOpenFiles, groups.count)] {
                    if interrupt.isRaised { throw TrackerError.cancelled }
                    let bytes = paths.template.isCompressed ? try GzipDeflater.compress(group.lines) : group.lines
                    let file = try file(for: group.target, in: folder)
                    written.append(file)
                    try file.append(bytes)
                }
                for file in written[first...] {
                    if interrupt.isRaised { throw TrackerError.cancelled }
                    try file.sync()
                }
            }
        } catch {
            for file in written { file.rollBack() }
            return .retry(trackerError(error))
        }
        for file in written { file.settle() }
        table.endFull(written, maximumBytes: configuration.maximumFileBytes)
        completeFiles()
        return .delivered
    }

    /// Completes all files.
    func stop() {
        timer?.cancel()
        table.endAll()
        nextAttempt = nil
        completeFiles()
        // Another process may have files there.
        if hasRecovered, let root = try? ArchiveFolder(path: paths.template.root, creates: false) {
            root.removeIfEmpty(PathTemplate.unfinishedFolder)
        }
    }

    // MARK: Files

    /// The root folder and the folder of unfinished files, opened again each time because they may have been moved.
    private func folders() throws(SystemFailure) -> (root: ArchiveFolder, unfinished: ArchiveFolder) {
        let root = try ArchiveFolder(path: paths.template.root, creates: true)
        return (root, try root.folder(PathTemplate.unfinishedFolder, creates: true))
    }

    /// The file that a target's events are written to, open.
    private func file(for target: FileTarget, in folder: ArchiveFolder) throws(SystemFailure) -> UnfinishedFile {
        if let file = table.file(for: target) {
            if try file.isUsable(in: folder) {
                table.noteUse(of: file)
                return file
            }
            noteDisappearance(of: file)
        }
        let file = try UnfinishedFile(target, paths, in: folder, now: clock.now())
        table.add(file)
        return file
    }

    private func noteDisappearance(of file: UnfinishedFile) {
        table.remove(file)
        logger.warning(
            "An unfinished file has disappeared: it was moved or removed, or another process has completed it.",
            metadata: ["tracker": "\(configuration.name)", "file": "\(file.name)"]
        )
    }

    private func recover(_ name: String, in folder: ArchiveFolder) {
        do {
            var damagedBytes = 0
            let file = try UnfinishedFile(name, in: folder, now: clock.now()) { file in
                let recovery = try Recovery(of: file)
                if recovery.isDamaged { damagedBytes = try file.byteCount() - recovery.size }
                guard let target = recovery.target(paths) ?? recovery.emptyTarget else { throw UnknownContents() }
                return (recovery.size, target)
            }
            guard let file else { return }
            table.addComplete(file)
            if damagedBytes > 0 {
                logger.warning(
                    "A file that a killed process has left is damaged; what follows its last undamaged member is cut off.",
                    metadata: ["tracker": "\(configuration.name)", "file": "\(name)", "cutOffBytes": "\(damagedBytes)"]
                )
            }
            logger.info(
                "Completing a file that a killed process has left.",
                metadata: ["tracker": "\(configuration.name)", "file": "\(name)", "bytes": "\(file.size)"]
            )
        } catch {
            logger.warning(
                "A file that a killed process has left cannot be read, and stays; the next start tries again.",
                metadata: ["tracker": "\(configuration.name)", "file": "\(name)", "error": "\(trackerError(error))"]
            )
        }
    }

    /// Gives the complete files their names; those for which that has failed, only when it is time for the next attempt.
    private func completeFiles() {
        guard !table.complete.isEmpty else { return }
        if let time = nextAttempt, clock.now() >= time { nextAttempt = nil }
        let repeats = nextAttempt == nil
        for file in table.complete where repeats || !file.isWaiting {
            do {
                let folders = try folders()
                if try file.complete(from: folders.unfinished, in: folders.root) {
                    table.remove(file)
                } else {
                    noteDisappearance(of: file)
                }
            } catch {
                file.close()
                file.isWaiting = true
                noteFailure(trackerError(error))
            }
        }
        if table.complete.isEmpty, let summary = failures.ended(now: clock.now()) {
            logger.info(
                "Complete files get their names again.",
                metadata: ["tracker": "\(configuration.name)", "seconds": "\(summary.duration.loggedSeconds)"]
            )
        }
    }

    private func noteFailure(_ error: TrackerError) {
        nextAttempt = nextAttempt ?? clock.now() + Self.pauseAfterFailure
        lastFailure = error
        guard let summary = failures.failed(because: "\(error)", now: clock.now()) else { return }
        logger.warning(
            "A complete file cannot be given its name; its events are safe, and Sluice tries again.",
            metadata: ["tracker": "\(configuration.name)", "error": "\(error)", "failures": "\(summary.count)"]
        )
    }

    private var hasRoot: Bool { (try? ArchiveFolder(path: paths.template.root, creates: false)) != nil }

    private func trackerError(_ error: any Error) -> TrackerError {
        switch error {
        case let error as TrackerError: error
        case let error as SystemFailure where error.isMissing && hasRoot:
            // For example, another process has removed the folder of the unfinished files, because it was empty.
            FileErrors.unavailable("Something in the folder '\(paths.template.root)' was removed while it was used.")
        case let error as SystemFailure: FileErrors.error(error, folder: paths.template.root)
        case let error as GzipError: FileErrors.unavailable(error.message)
        default: FileErrors.unavailable("The file does not begin with an event.")
        }
    }

    // MARK: Time

    /// Starts the timer for the next file that becomes too old, or for the next attempt.
    private func schedule() {
        let oldest = table.oldest.map { $0 + configuration.maximumAge }
        let end = [oldest, nextAttempt].compactMap(\.self).min()
        guard end != timerEnd else { return }
        timer?.cancel()
        timerEnd = end
        timer = end.map { end in
            // Files have to be completed while no delivery is running; the session's end cancels it.
            Task { [weak self, clock] in
                do { try await clock.sleepUntil(end) } catch { return }
                await self?.endOldFiles()
            }
        }
    }

    private func endOldFiles() {
        timerEnd = nil
        table.endOld(createdBefore: clock.now() - configuration.maximumAge)
        completeFiles()
        schedule()
    }
}

/// The first line of a file is not an event.
private struct UnknownContents: Error {}

extension ArchiveFolder {
    /// Checks that a file can be made, locked, written and given another name, and removes it.
    fileprivate func check(with name: String, and other: String) throws(SystemFailure) {
        let file = try create(name)
        do throws(SystemFailure) {
            _ = try file.lock()
            try file.write([UInt8(ascii: "\n")], at: 0)
            try file.sync()
            try move(name, to: self, as: other)
        } catch {
            for name in [name, other] { try? remove(name) }
            throw error
        }
        try remove(other)
    }
}
