import EventModel
import Foundation
package import Logging
import Synchronization
import TrackerKit

/// The file that keeps what an operator has changed, so that it survives a restart.
///
/// It is JSON: `{"pausedTrackers":["postgres"],"settings":[{"key":"log.level","value":"debug",…}]}`. Files of older versions have
/// no `settings`.
package final class ControlFile: Sendable {
    /// What is kept.
    struct Contents: Codable {
        /// The trackers that are paused, by their names in lower case.
        var pausedTrackers: Set<String> = []
        /// The settings that were changed for a time; `nil` in a file of an older version.
        var settings: [SettingChange]?
    }

    private let path: String?
    private let kept: Mutex<Contents>
    private let writer: Writer

    /// Makes changes one after the other, on a thread that a hanging disk may block.
    private actor Writer {
        private let thread: BlockingThread

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init() throws(TrackerError) {
            thread = try BlockingThread()
        }

        func make<Value: Sendable>(_ change: () throws -> Value) throws -> Value { try change() }
    }

    /// Reads the file; without one, nothing was changed.
    ///
    /// Without a path, changes are forgotten when the process ends.
    ///
    /// - Throws: `OperationsError` with `unusableFile` if it cannot be read, because then it is unknown what was changed, or if the
    ///   system cannot create another thread.
    package init(path: String?) throws(OperationsError) {
        self.path = path
        kept = Mutex(try path.map { path throws(OperationsError) in try Self.read(path) } ?? Contents())
        do {
            writer = try Writer()
        } catch {
            throw OperationsError(
                code: .unusableFile,
                message: "The file '\(path ?? "")' cannot be used.",
                underlying: error
            )
        }
    }

    private static func read(_ path: String) throws(OperationsError) -> Contents {
        do {
            return try JSONDecoder().decode(Contents.self, from: Data(try RegularFile.contents(own: path)))
        } catch let error as RegularFile.Failure where error.isMissing {
            return Contents()
        } catch {
            let message =
                "The file '\(path)', which says what is paused or changed, cannot be read; repair it, or remove it."
            throw OperationsError(code: .unusableFile, message: message, underlying: error)
        }
    }

    /// What is kept now.
    var contents: Contents { kept.withLock { $0 } }

    /// Pauses the trackers of a pipeline that an earlier run has paused; `OperationsServer` does so by itself.
    package func pauseTrackers(of pipeline: any OperatedPipeline, logger: Logger) {
        for tracker in contents.pausedTrackers.sorted() where pipeline.pause(tracker: tracker) {
            logger.notice("The tracker is paused since an earlier run.", metadata: ["tracker": "\(tracker)"])
        }
    }

    /// Forgets changes that can no longer be made, until the next change in memory only; before anything else uses the file.
    func keepOnly(_ settings: [SettingChange]) {
        kept.withLock { $0.settings = settings }
    }

    /// Notes a change, and then makes it.
    ///
    /// `edit` changes what is kept, and returns what makes the change itself.
    ///
    /// - Throws: What `edit` throws, or if the file cannot be written; then nothing is noted or made.
    func change(_ edit: @escaping @Sendable (inout Contents) throws -> @Sendable () -> Void) async throws {
        try await writer.make {
            // Only the writer changes it.
            var changed = contents
            let make = try edit(&changed)
            try write(changed)
            kept.withLock { [changed] in $0 = changed }
            make()
        }
    }

    /// Makes a change that must not wait for the disk, and then notes it.
    ///
    /// - Throws: What `edit` throws, and then nothing is made; or if the file cannot be written.
    func changeAtOnce(_ edit: @escaping @Sendable (inout Contents) throws -> @Sendable () -> Void) async throws {
        try await writer.make {
            var changed = contents
            let make = try edit(&changed)
            kept.withLock { [changed] in $0 = changed }
            make()
            try write(changed)
        }
    }

    private func write(_ contents: Contents) throws {
        guard let path else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try encoder.encode(contents).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
