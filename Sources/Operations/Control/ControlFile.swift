import Foundation
package import Logging
import Synchronization
import TrackerKit

/// The file that keeps what an operator has changed, so that it survives a restart.
///
/// It is JSON: `{"pausedTrackers":["postgres"]}`.
package final class ControlFile: Sendable {
    private struct Contents: Codable {
        var pausedTrackers: Set<String> = []
    }

    private let path: String
    private let contents: Mutex<Contents>
    private let writer: Writer

    /// Makes changes one after the other, on a thread that a hanging disk may block.
    private actor Writer {
        private let thread: BlockingThread

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init() throws(TrackerError) {
            thread = try BlockingThread()
        }

        func make(_ change: () throws -> Void) throws { try change() }
    }

    /// Reads the file; without one, nothing was changed.
    ///
    /// - Throws: `OperationsError` with `unusableFile` if it cannot be read, because then it is unknown what was paused, or if the
    ///   system cannot create another thread.
    package init(path: String) throws(OperationsError) {
        self.path = path
        contents = Mutex(try Self.read(path))
        do {
            writer = try Writer()
        } catch {
            throw OperationsError(
                code: .unusableFile,
                message: "The file '\(path)' cannot be used.",
                underlying: error
            )
        }
    }

    private static func read(_ path: String) throws(OperationsError) -> Contents {
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            return try JSONDecoder().decode(Contents.self, from: data)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            return Contents()
        } catch {
            let message = "The file '\(path)', which says what is paused, cannot be read; repair it, or remove it."
            throw OperationsError(code: .unusableFile, message: message, underlying: error)
        }
    }

    /// The trackers that are paused, by their names in lower case.
    var pausedTrackers: Set<String> { contents.withLock { $0.pausedTrackers } }

    /// Pauses the trackers of a pipeline that an earlier run has paused; `OperationsServer` does so by itself.
    package func pauseTrackers(of pipeline: any OperatedPipeline, logger: Logger) {
        for tracker in pausedTrackers.sorted() where pipeline.pause(tracker: tracker) {
            logger.notice("The tracker is paused since an earlier run.", metadata: ["tracker": "\(tracker)"])
        }
    }

    /// Notes that a tracker is paused, or that it no longer is, and then makes the change itself.
    ///
    /// - Throws: If the file cannot be written; then nothing is noted or made.
    func setPaused(_ isPaused: Bool, tracker: String, then change: @escaping @Sendable () -> Void) async throws {
        try await writer.make {
            try setPaused(isPaused, tracker: tracker.lowercased())
            change()
        }
    }

    private func setPaused(_ isPaused: Bool, tracker: String) throws {
        // Only the writer changes it.
        var changed = contents.withLock { $0 }
        if isPaused {
            changed.pausedTrackers.insert(tracker)
        } else {
            changed.pausedTrackers.remove(tracker)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try encoder.encode(changed).write(to: URL(fileURLWithPath: path), options: .atomic)
        contents.withLock { [changed] in $0 = changed }
    }
}
