import EventJournal
import Foundation

/// The folder of undelivered events, with a folder for each tracker, which holds the tracker's spools.
package struct EventStorage: Sendable {
    /// The folder's path.
    package let folder: String

    /// Sets the folder, which is created with the first event.
    package init(folder: String) {
        self.folder = folder
    }

    /// The default folder.
    ///
    /// On Apple's systems the application support folder, elsewhere `XDG_STATE_HOME` or `~/.local/state`; below that a
    /// folder for the app and one for this library, as the defaults in which JustTrack stored its events are the app's.
    package static func standard(environment: [String: String] = ProcessInfo.processInfo.environment) -> EventStorage {
        #if canImport(Darwin)
        let state = URL.applicationSupportDirectory
        let app = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        #else
        let stated = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
        let state = stated ?? URL(fileURLWithPath: NSHomeDirectory()).appending(path: ".local/state")
        let app = ProcessInfo.processInfo.processName
        #endif
        return EventStorage(folder: state.appending(path: app).appending(path: "JustTrack").path)
    }

    /// The spools of one tracker.
    func spools(ofTracker name: String) -> SpoolFolder {
        SpoolFolder(path: folder + "/" + CursorFile.spelling(ofTracker: name))
    }

    /// The spools of all trackers that ever had events here.
    var all: [SpoolFolder] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.map { SpoolFolder(path: folder + "/" + $0) }
    }
}
