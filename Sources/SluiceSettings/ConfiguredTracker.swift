import SettingDefinitions
package import TrackerKit

/// A tracker of the settings.
package struct ConfiguredTracker: Sendable {
    /// The name that events in the plan use.
    package let name: String
    /// The tracker's type, which shows its abilities.
    package let type: any ConfigurableTracker.Type
    private let configuration: any Sendable
    private let make: @Sendable (TrackerContext) -> any Tracker
    private let text: @Sendable (SettingKey) -> String?
    /// The limits that the tracker has by itself; `nil` if it has those of all trackers.
    let deliveryLimits: DeliveryLimits?

    init<Kind: ConfigurableTracker>(_ type: Kind.Type, _ configuration: Kind.Configuration, named name: String) {
        self.name = name
        self.type = type
        self.configuration = configuration
        make = { Kind.tracker(configuration, in: $0) }
        text = { key in Kind.settings.first { $0.key == key }?.text(configuration) }
        deliveryLimits = Kind.deliveryLimits(of: configuration)
    }

    /// The value of a setting of its type, as the configuration file would state it; `nil` if there is no simple one.
    func text(of key: SettingKey) -> String? { text(key) }

    /// Makes the tracker.
    package func tracker(in context: TrackerContext) -> any Tracker { make(context) }

    /// The configuration, if the tracker is of this type.
    package func configuration<Kind: ConfigurableTracker>(of type: Kind.Type) -> Kind.Configuration? {
        self.type == type ? configuration as? Kind.Configuration : nil
    }
}

extension SettingsReader {
    /// The configured trackers: the one that each type has by itself, and those of the section `trackers`.
    package func trackers() -> [ConfiguredTracker] {
        let own = SettingCatalog.trackerTypes.compactMap { type in
            if let tracker = tracker(named: type.type, type) { return tracker }
            // A section that has only limits may be for a tracker that an option states.
            let section = namedTrackers.first { $0.name.lowercased() == type.type && $0.statesType }
            if let section { noteMissing(section) }
            return nil
        }
        let named = namedTrackers.filter { SettingCatalog.trackerType(named: $0.name) == nil }
        return own
            + named.compactMap { named in
                if let tracker = tracker(named: named.name, named.type) { return tracker }
                noteMissing(named)
                return nil
            }
    }

    /// The names of all trackers that settings can be about, configured or not.
    var trackerNames: [String] { SettingCatalog.trackerTypeNames + namedTrackers.map(\.name) }

    private func tracker<Kind: ConfigurableTracker>(named name: String, _ type: Kind.Type) -> ConfiguredTracker? {
        Kind.configuration(named: name, from: section(ofTracker: name))
            .map { ConfiguredTracker(type, $0, named: name) }
    }

    /// Whether a text or a list is stated.
    private func states(_ key: SettingKey) -> Bool {
        if case .list = key.kind { return texts(key) != nil }
        return text(key) != nil
    }

    /// Says what a tracker of the section `trackers` lacks, unless a problem with it was noted already.
    private func noteMissing(_ tracker: ConfigurationDocument.Tracker) {
        let settings = tracker.type.requiresOneOf.map { SettingName($0, ofTracker: tracker.name) }
        let section = section(ofTracker: tracker.name)
        guard !settings.isEmpty, settings.allSatisfy({ !section.states($0.key) && !isRejected($0) }) else { return }
        let names = settings.map(\.name).joined(separator: " or ")
        note(.missingSetting, at: tracker.place, "the tracker '\(tracker.name)' needs \(names)")
    }
}
