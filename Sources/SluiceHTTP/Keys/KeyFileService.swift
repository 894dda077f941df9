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
/// It looks at the file once a second. A file that is missing or invalid changes nothing, and is logged. The numbers of events of
/// the day are in another file, whose name ends in `.usage`; it is written once a second, so after a crash the last second's events
/// are not counted.
public final class KeyFileService: Service {
    private struct State {
        /// The bytes of the file at the last look; `nil` before the first, and if it is missing.
        var bytes: [UInt8]?
        /// The day's numbers that are stored; `nil` before they are read.
        var usage: [String: KeyLimiter.Usage]?
        /// What was wrong with the file at the last look.
        var problem: String?
        var cannotWriteUsage = false
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
        guard let bytes = try Self.contents(of: path) else { return }
        try replaceKeys(with: bytes)
        state.withLock { $0.bytes = bytes }
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
            let bytes = try Self.contents(of: path)
            let (isNew, hadFile) = state.withLock { state in
                defer { state.bytes = bytes }
                return (bytes != state.bytes, state.bytes != nil)
            }
            if isNew, let bytes {
                try replaceKeys(with: bytes)
                logger.info("The write keys have changed.", metadata: metadata)
            } else if isNew, hadFile {
                logger.warning("The file with the write keys is gone; the keys stay as they were.", metadata: metadata)
            }
            state.withLock { $0.problem = nil }
        } catch {
            let isNew = state.withLock { state in
                defer { state.problem = "\(error)" }
                return state.problem != "\(error)"
            }
            guard isNew else { return storeUsage() }
            logger.error(
                "The file with the write keys cannot be used; the keys stay as they were.",
                metadata: metadata.merging(["error": "\(error)"]) { $1 }
            )
        }
        storeUsage()
    }

    private func replaceKeys(with bytes: [UInt8]) throws {
        let keys = try KeyFile.keys(from: bytes)
        try self.keys.replace(with: keys)
        if state.withLock({ $0.usage == nil }) {
            let usage = Self.contents(ofUsage: path + ".usage")
            self.keys.usage = usage
            state.withLock { $0.usage = usage }
        }
        let unknown = self.keys.unknownEvents(of: keys)
        guard !unknown.isEmpty else { return }
        logger.warning(
            "Write keys name events that the plan does not have.",
            metadata: metadata.merging(["events": "\(unknown.joined(separator: ", "))"]) { $1 }
        )
    }

    private var metadata: Logger.Metadata { ["file": "\(path)"] }

    private func storeUsage() {
        let usage = keys.usage.filter { $0.value.events > 0 }
        // Before they are read, there is nothing to store.
        guard state.withLock({ $0.usage != nil && $0.usage != usage }) else { return }
        let lines = usage.mapValues { [$0.day, Int64($0.events)] }
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try encoder.encode(lines).write(to: URL(fileURLWithPath: path + ".usage"), options: .atomic)
            state.withLock { state in
                state.usage = usage
                state.cannotWriteUsage = false
            }
        } catch {
            let isNew = state.withLock { state in
                defer { state.cannotWriteUsage = true }
                return !state.cannotWriteUsage
            }
            guard isNew else { return }
            logger.error(
                "How many events each write key has sent cannot be stored.",
                metadata: metadata.merging(["error": "\(error)"]) { $1 }
            )
        }
    }

    /// The bytes of a file; `nil` if it does not exist.
    private static func contents(of path: String) throws -> [UInt8]? {
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return nil
        }
    }

    /// The numbers in a file; none if it is missing or damaged, so that counting starts at zero.
    private static func contents(ofUsage path: String) -> [String: KeyLimiter.Usage] {
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: path)),
            let lines = try? JSONDecoder().decode([String: [Int64]].self, from: bytes)
        else { return [:] }
        return lines.compactMapValues { numbers in
            let isPlausible = numbers.count == 2 && numbers.allSatisfy { (0...1_000_000_000_000_000).contains($0) }
            guard isPlausible, numbers[0] < 10_000_000 else { return nil }
            return KeyLimiter.Usage(day: numbers[0], events: Int(numbers[1]))
        }
    }
}
