import EventModel
import Foundation
import Gzip
import Logging
import SluiceFile
import SluiceTesting
import TestCases
import Testing

@Suite("The tracker contract and files", .timeLimit(.minutes(5)))
struct FileContractTests {
    @Test("a tracker that writes files meets the contract", arguments: ["all.ndjson", "all.ndjson.gz"])
    func contract(file: String) async throws {
        let folder = try FolderOfFiles()
        try await TrackerContract(
            outage: .init(begin: { try folder.takeAway() }, end: { try folder.bringBack() }),
            makeTracker: { folder.tracker(file) },
            delivered: { try folder.ids() }
        ).verify()
    }

    @Test("a tracker with a file for each event and hour meets the contract, but for the order of different events")
    func manyFiles() async throws {
        let folder = try FolderOfFiles()
        try await TrackerContract(
            traits: .init(keepsOrder: false),
            outage: .init(begin: { try folder.takeAway() }, end: { try folder.bringBack() }),
            makeTracker: { folder.tracker("{event}/{yyyy}-{MM}-{dd}/{HH}-{node}.ndjson.gz") },
            delivered: { try folder.ids() }
        ).verify()
    }
}

/// A folder that trackers write files to; it is removed with the value.
private final class FolderOfFiles: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "sluice-files-\(UUID().uuidString)")
    private var archive: URL { url.appending(path: "archive") }
    private var away: URL { url.appending(path: "away") }

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func tracker(_ file: String) -> FileTracker {
        // A small size, so that the contract's events are in several files.
        var configuration = FileConfiguration(path: archive.path + "/" + file)
        configuration.maximumFileBytes = 100_000
        return FileTracker(configuration, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    func takeAway() throws {
        try FileManager.default.moveItem(at: archive, to: away)
        try Data().write(to: archive)
    }

    func bringBack() throws {
        try FileManager.default.removeItem(at: archive)
        try FileManager.default.moveItem(at: away, to: archive)
    }

    /// The ids of the events in all files, the oldest files first, and unfinished ones last.
    func ids() throws -> [EventID] {
        let names = FileManager.default.subpaths(atPath: archive.path) ?? []
        return try names.filter { $0.contains(".ndjson") || $0.hasSuffix(".partial") && $0.contains("/") }
            .sorted { Self.order(of: $0) < Self.order(of: $1) }
            .flatMap { try Self.ids(Array(Data(contentsOf: archive.appending(path: $0)))) }
    }

    private static func order(of name: String) -> Int {
        if name.hasSuffix(".partial") { return .max }
        return name.firstMatch(of: /\+(\d+)\./).flatMap { Int($0.1) } ?? 1
    }

    private static func ids(_ bytes: [UInt8]) throws -> [EventID] {
        let text = String(decoding: bytes.first == 0x1F ? try GzipInflater.inflated(bytes) : bytes, as: UTF8.self)
        return try text.split(separator: "\n").map { line in
            // After `{"id":"`.
            try #require(EventID(String(line.dropFirst(7).prefix(36))))
        }
    }
}
