import EventSchema
import EventValidation
import Logging
package import SettingDefinitions
import TrackerKit

extension SettingsReader {
    /// Reads the settings of `sluice serve`, and lets each tracker check its own, which needs neither a plan nor a network.
    ///
    /// - Throws: `SettingsError` with all problems.
    package func check() throws(SettingsError) {
        let settings = Settings(reading: self, keepsJournal: true)
        let catalog = EventCatalog(plan: TrackingPlan(events: []))
        for tracker in settings.trackers.map({ $0.tracker(in: .silent) }) {
            do throws(TrackerError) {
                try tracker.checkSettings(for: catalog)
            } catch {
                note(.invalidValue, at: .name(tracker.name), error.message)
            }
        }
        try finish()
    }
}

extension TrackerContext {
    /// For a tracker that delivers nothing.
    fileprivate static let silent = TrackerContext(logger: Logger(label: "sluice") { _ in SwiftLogNoOpLogHandler() })
}
