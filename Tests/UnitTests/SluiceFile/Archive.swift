import EventModel
import EventValidation
import Foundation
import Gzip
import Logging
import SluiceFile
import SluiceTesting
import TestCases
import TrackerKit

/// A folder for the files of trackers; it is removed with the value.
final class Archive: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "sluice-file-\(UUID().uuidString)")

    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    static let catalog = EventCatalog.scripted(["Sold": ["file"], "../Returned": ["file"]])

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appending(path: name).path }

    /// A tracker whose path is in this folder, on the node `n`.
    func tracker(
        _ path: String = "archive/{event}.ndjson",
        clock: some Clock<Duration> = ContinuousClock(),
        logger: Logger = Archive.silent,
        _ change: (inout FileConfiguration) -> Void = { _ in }
    ) -> FileTracker {
        var configuration = FileConfiguration(path: self.path(path))
        configuration.node = "n"
        change(&configuration)
        return FileTracker(configuration, logger: logger, clock: clock)
    }

    /// The files in it, as paths below it, in order; unfinished ones only if they are asked for.
    func files(unfinished: Bool = false) -> [String] {
        let names = FileManager.default.subpaths(atPath: url.path) ?? []
        return names.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path(name), isDirectory: &isFolder) && !isFolder.boolValue
                && name.contains(".partial/") == unfinished
        }.sorted()
    }

    /// Whether there is a file or a folder of a name.
    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    func write(_ bytes: [UInt8], to name: String) throws {
        let file = URL(filePath: path(name))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(bytes).write(to: file)
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: path(name), toPath: path(other))
    }

    /// The lines of a file, each of which must be whole, as must be its gzip.
    func lines(of name: String) throws -> [String] {
        let bytes = try bytes(of: name)
        return try Self.lines(bytes.first == 0x1F ? GzipInflater.inflated(bytes) : bytes)
    }

    static func lines(_ bytes: [UInt8]) throws -> [String] {
        guard bytes.last == UInt8(ascii: "\n") else { throw NotWhole() }
        return String(decoding: bytes.dropLast(), as: UTF8.self).components(separatedBy: "\n")
    }

    /// A file does not end where a line ends.
    struct NotWhole: Error {}
}

extension Delivery {
    /// A delivery of events of one name whose ids are these numbers.
    static func numbered(
        _ numbers: Range<Int>,
        _ name: String = "Sold",
        of catalog: EventCatalog = Archive.catalog,
        _ change: (inout ScriptedEvent) -> Void = { _ in }
    ) -> Delivery {
        let events = numbers.map { number in
            var event = ScriptedEvent(name, number: number)
            change(&event)
            return event
        }
        return Delivery([EventSlice(EventBatch.scripted(catalog: catalog, events: events))])
    }

    /// The lines that it consists of.
    var lines: [String] { map(\.json) }
}
