import EventModel
import EventPipeline
public import Logging
public import ServiceLifecycle
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Takes changes of the file with the keys into a running server, and keeps what keys sent today across restarts.
///
/// It looks at the file once a second. A file that is missing or invalid changes nothing, and is logged. Events that keys name and the
/// plan does not have are logged as well, whenever the keys or the plan were replaced. The numbers of events of the day are in
/// another file, whose name ends in `.usage`; it is written once a second, so after a crash the last second's events are not counted.
public final class KeyFileService: Service {
    private struct State {
        /// The bytes of the file at the last look; `nil` before the first, and if it is missing.
        var bytes: [UInt8]?
        /// The day's numbers that are stored; `nil` before they are read.
        var usage: [String: KeyLimiter.Usage]?
        /// What is wrong with these bytes.
        var problem: (any Error)?
        /// The file cannot be used.
        var failures = FailureEpisode()
        /// The day's numbers cannot be stored.
        var usageFailures = FailureEpisode()
        /// The replacements of the keys and the plan after which unknown events were logged.
        var checkedVersion: UInt64 = 0
    }

    private let path: String
    private let keys: WriteKeys
    private let logger: Logger
    private let clock: RelativeClock
    private let state = Mutex(State())

    /// Makes a service for a file, which need not exist; `clock` measures the time between two looks.
    public init(
        path: String,
        keys: WriteKeys,
        logger: Logger,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        self.path = path
        self.keys = keys
        self.logger = logger
        self.clock = RelativeClock(clock)
    }

    /// Reads the file and the day's numbers; does nothing if the file is missing.
    ///
    /// - Throws: `KeyFile.Problem` or `IngestError` if the file cannot be used.
    public func load() throws {
        guard let bytes = try KeyFile.contents(of: path) else { return }
        try replaceKeys(with: bytes)
        state.withLock { $0.bytes = bytes }
        warnOfUnknownEvents()
    }

    /// Looks at the file until a graceful shutdown or cancellation.
    public func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await self.clock.sleepUntil(self.clock.now() + .seconds(1))) != nil { self.look() }
        }
        storeUsage()
    }

    /// Takes over a change of the file, if there is one, and stores the day's numbers.
    package func look() {
        do {
            if try takeChange() {
                let failures = state.withLock { $0.failures.ended(now: clock.now()) }
                logger.info("The write keys have changed.", metadata: metadata(failures))
            } else if let failures = state.withLock({ $0.failures.ended(now: clock.now()) }) {
                logger.info("The file with the write keys can be used again.", metadata: metadata(failures))
            }
        } catch {
            let failures = state.withLock { $0.failures.failed(because: "\(error)", now: clock.now()) }
            if let failures {
                logger.error(
                    "The file with the write keys cannot be used; the keys stay as they were.",
                    metadata: metadata(failures).merging(["error": "\(error)"]) { $1 }
                )
            }
        }
        warnOfUnknownEvents()
        storeUsage()
    }

    /// Takes over a change of the file; returns whether there was one.
    ///
    /// - Throws: What is wrong with the file, also if it has not changed since the last look.
    private func takeChange() throws -> Bool {
        let bytes = try KeyFile.contents(of: path)
        let (isNew, hadFile, problem) = state.withLock { state in
            defer { state.bytes = bytes }
            return (bytes != state.bytes, state.bytes != nil, state.problem)
        }
        guard isNew else {
            if let problem { throw problem }
            return false
        }
        guard let bytes else {
            if hadFile {
                logger.warning("The file with the write keys is gone; the keys stay as they were.", metadata: metadata)
            }
            // What was wrong with it no longer matters, and a missing file is no file that can be used again.
            state.withLock { state in
                state.problem = nil
                _ = state.failures.ended(now: clock.now())
            }
            return false
        }
        do {
            try replaceKeys(with: bytes)
        } catch {
            state.withLock { $0.problem = error }
            throw error
        }
        state.withLock { $0.problem = nil }
        return true
    }

    private func replaceKeys(with bytes: [UInt8]) throws {
        let keys = try KeyFile.keys(from: bytes)
        try self.keys.replace(with: keys)
        if state.withLock({ $0.usage == nil }) {
            let usage = Self.contents(ofUsage: path + ".usage")
            self.keys.usage = usage
            state.withLock { $0.usage = usage }
        }
    }

    /// Logs the events that keys name and the plan does not have, if the keys or the plan were replaced since the last time.
    private func warnOfUnknownEvents() {
        let version = keys.version
        let isNew = state.withLock { state in
            defer { state.checkedVersion = version }
            return state.checkedVersion != version
        }
        guard isNew else { return }
        let unknown = keys.unknownEvents
        guard !unknown.isEmpty else { return }
        logger.warning(
            "Write keys name events that the plan does not have.",
            metadata: metadata.merging(["events": "\(unknown.joined(separator: ", "))"]) { $1 }
        )
    }

    private var metadata: Logger.Metadata { ["file": "\(path)"] }

    private func metadata(_ failures: FailureEpisode.Summary?) -> Logger.Metadata {
        metadata.merging(failures?.metadata ?? [:]) { $1 }
    }

    private func storeUsage() {
        let usage = keys.usage.filter { $0.value.events > 0 }
        // Before they are read, there is nothing to store.
        guard state.withLock({ $0.usage != nil && $0.usage != usage }) else { return }
        let lines = usage.mapValues { [$0.day, Int64($0.events)] }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try encoder.encode(lines).write(to: URL(fileURLWithPath: path + ".usage"), options: .atomic)
            let failures = state.withLock { state in
                state.usage = usage
                return state.usageFailures.ended(now: clock.now())
            }
            if let failures {
                logger.info(
                    "How many events each write key has sent can be stored again.",
                    metadata: metadata(failures)
                )
            }
        } catch {
            let failures = state.withLock { $0.usageFailures.failed(now: clock.now()) }
            guard let failures else { return }
            logger.error(
                "How many events each write key has sent cannot be stored.",
                metadata: metadata(failures).merging(["error": "\(error)"]) { $1 }
            )
        }
    }

    /// The numbers in a file; none if it is missing or damaged, so that counting starts at zero.
    private static func contents(ofUsage path: String) -> [String: KeyLimiter.Usage] {
        guard let bytes = try? RegularFile.contents(own: path),
            let lines = try? JSONDecoder().decode([String: [Int64]].self, from: Data(bytes))
        else { return [:] }
        return lines.compactMapValues { numbers in
            let isPlausible = numbers.count == 2 && numbers.allSatisfy { (0...1_000_000_000_000_000).contains($0) }
            guard isPlausible, numbers[0] < 10_000_000 else { return nil }
            return KeyLimiter.Usage(day: numbers[0], events: Int(numbers[1]))
        }
    }
}
