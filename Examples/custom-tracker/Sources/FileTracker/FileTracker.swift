public import Foundation
public import Sluice

/// Appends each event to a file named after it: a tracker in about ten lines.
///
/// It opens a file for each event, which suffices for low rates. For higher rates, implement `deliver(_:)` as `LogFileTracker`
/// does, which receives many events at once.
public struct FileTracker: SingleEventTracker {
    /// The name that the plan's events refer to.
    public let name = "files"
    private let folder: URL

    /// Creates a tracker that writes to files in `folder`, which must exist.
    public init(folder: URL) {
        self.folder = folder
    }

    /// Appends the event's canonical JSON to the file of its definition.
    ///
    /// - Throws: The file system's error if the event cannot be written; the pipeline then retries it.
    public func track(_ event: TrackedEvent) async throws {
        let file = folder.appending(path: event.definition.key + ".ndjson")
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((event.json + "\n").utf8))
    }
}
