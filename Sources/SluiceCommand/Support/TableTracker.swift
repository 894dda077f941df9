import ArgumentParser
import Logging
import SettingDefinitions
import SluiceSettings
import TrackerKit

/// The choice of the tracker whose tables a command changes.
enum TableTracker {
    /// Of the trackers with tables, the one that was named, or else the one that is named like its type, or the only one.
    static func named<Ability>(
        _ name: String?,
        among configured: [ConfiguredTracker],
        as ability: Ability.Type
    ) throws -> Ability {
        let context = TrackerContext(logger: Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() })
        let trackers = configured.compactMap { configured in
            let tracker = configured.tracker(in: context)
            return (tracker as? Ability).map { (type: configured.type.type, name: tracker.name, tracker: $0) }
        }
        let known = trackers.map(\.name).joined(separator: ", ")
        if let name {
            if let named = trackers.first(where: { $0.name.lowercased() == name.lowercased() }) { return named.tracker }
            let list = known.isEmpty ? "none" : known
            throw ValidationError("No tracker '\(name)' with tables is configured; there are: \(list).")
        }
        let own = trackers.filter { $0.name == $0.type }
        switch (own.count, trackers.count) {
        case (1, _): return own[0].tracker
        case (_, 0): throw ValidationError("No database is configured; set \(settingsOfDatabases).")
        case (_, 1): return trackers[0].tracker
        default: throw ValidationError("There are several trackers with tables; name one with --tracker: \(known).")
        }
    }

    /// What to set for a tracker with tables to exist.
    private static var settingsOfDatabases: String {
        SettingCatalog.trackerTypes.filter { $0 is any MigratableTracker.Type }
            .compactMap { $0.requiresOneOf.first?.places }.joined(separator: ", ")
    }
}
