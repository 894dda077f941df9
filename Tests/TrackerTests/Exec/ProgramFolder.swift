import EventModel
import EventValidation
import Foundation
import Logging
import SluiceExec
import SluiceTesting
import TestSupport
import TrackerKit

/// A folder for the files of programs that are trackers; it is removed with the value.
final class ProgramFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appending(path: "sluice-exec-\(UUID().uuidString)")

    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: path(name)) }

    /// The text of a file; empty if it does not exist.
    func text(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path(name)) ?? Data(), as: UTF8.self)
    }

    /// The ids of the events in a file of canonical lines.
    func ids(in name: String) -> [EventID] {
        text(name).split(separator: "\n").compactMap { line in
            let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (event?["id"] as? String).flatMap { EventID($0) }
        }
    }

    /// A tracker whose program is a shell script; `$1` is this folder.
    func tracker(
        script: String,
        clock: some Clock<Duration> = ContinuousClock(),
        logger: Logger = ProgramFolder.silent,
        _ change: (inout ExecConfiguration) -> Void = { _ in }
    ) -> ExecTracker {
        var configuration = ExecConfiguration(command: ["/bin/sh", "-c", script, "sh", url.path])
        change(&configuration)
        return ExecTracker(configuration, logger: logger, clock: clock)
    }
}

/// A plan and events for programs.
enum ExecEvents {
    static let catalog = EventCatalog.scripted(["Song Played": ["exec"]])

    /// A delivery of events whose ids are the numbers from 0 on.
    static func delivery(_ count: Int) -> Delivery {
        let events = (0..<count).map { ScriptedEvent("Song Played", number: $0) }
        return Delivery([EventSlice(EventBatch.scripted(catalog: catalog, events: events))])
    }
}
