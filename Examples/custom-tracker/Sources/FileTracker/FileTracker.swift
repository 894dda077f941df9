public import Foundation
public import Sluice

/// Keeps each event in a file named after it: the ten-line way to write a tracker.
///
/// A file is opened for each event, which is plenty for a trickle. A tracker for more than that implements
/// `deliver(_:)`, and writes a delivery at once.
public struct FileTracker: SingleEventTracker {
    /// The name by which a plan's events name this tracker.
    public let name = "files"
    private let folder: URL

    /// Keeps its files in `folder`, which must exist.
    public init(folder: URL) {
        self.folder = folder
    }

    /// Appends the event's canonical JSON to the file of its kind.
    ///
    /// - Throws: What the file system says when the disk does not take the event, which is then tried again.
    public func track(_ event: TrackedEvent) async throws {
        let file = folder.appending(path: event.definition.key + ".ndjson")
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data((event.json + "\n").utf8))
    }
}
