import Foundation
import Synchronization

/// The file that keeps what an operator has changed, so that it survives a restart.
///
/// It is JSON: `{"pausedTrackers":["postgres"]}`.
final class ControlFile: Sendable {
    private struct Contents: Codable {
        var pausedTrackers: Set<String> = []
    }

    private let path: String
    private let contents: Mutex<Contents>

    /// Reads the file; without one, nothing was changed.
    ///
    /// - Throws: `OperationsError` if it cannot be read, because then it is unknown what was paused.
    init(path: String) throws(OperationsError) {
        self.path = path
        do {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            contents = Mutex(try JSONDecoder().decode(Contents.self, from: data))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            contents = Mutex(Contents())
        } catch {
            let message = "The file '\(path)', which says what is paused, cannot be read; repair it, or remove it."
            throw OperationsError(code: .unusableFile, message: message, underlying: error)
        }
    }

    /// The trackers that are paused, by their names in lower case.
    var pausedTrackers: Set<String> { contents.withLock { $0.pausedTrackers } }

    /// Notes that a tracker is paused, or that it no longer is.
    ///
    /// - Throws: If the file cannot be written; then nothing is noted.
    func setPaused(_ isPaused: Bool, tracker: String) throws {
        try contents.withLock { contents in
            var changed = contents
            if isPaused {
                changed.pausedTrackers.insert(tracker.lowercased())
            } else {
                changed.pausedTrackers.remove(tracker.lowercased())
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try encoder.encode(changed).write(to: URL(fileURLWithPath: path), options: .atomic)
            contents = changed
        }
    }
}
