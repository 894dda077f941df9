import SettingDefinitions

/// A setting as `sluice config show` prints it.
package struct ShownSetting: Encodable {
    package let key: String
    /// The value; a secret is replaced.
    package let value: SettingValue
    /// `option`, `environment`, `file` or `default`.
    package let source: String
    /// The option, the variable, or the file and line; `nil` for a default.
    package let place: String?

    /// Where the value comes from, in words.
    package var origin: String { place ?? source }
}

extension SettingsReader {
    /// All settings, then those of the trackers in the section `trackers`.
    ///
    /// Of the trackers that each type has by itself, only limits of their own are listed. `trackers` are all that are configured.
    package func shownSettings(of trackers: [ConfiguredTracker], hasJournal: Bool) -> [ShownSetting] {
        let named = namedTrackers.filter { SettingCatalog.trackerType(named: $0.name) == nil }
        let limits = SettingCatalog.trackerTypeNames.flatMap { tracker in
            SettingCatalog.keys.filter { $0.scope == .processAndTracker }.map { SettingName($0, ofTracker: tracker) }
        }
        let own = limits.filter { statedValue(of: $0) != nil || limit(of: $0, trackers) != nil }
        let settings =
            SettingCatalog.keys.map { SettingName($0) } + own
            + named.flatMap { tracker in
                SettingCatalog.keys(ofTracker: tracker.type).map { SettingName($0, ofTracker: tracker.name) }
            }
        return settings.map { shown($0, of: trackers, hasJournal: hasJournal) }
    }

    private func shown(_ setting: SettingName, of trackers: [ConfiguredTracker], hasJournal: Bool) -> ShownSetting {
        if let value = statedValue(of: setting) {
            let (source, place) = words(for: source(of: setting))
            let redacted = value.redacted(as: setting.key)
            return ShownSetting(key: setting.name, value: redacted, source: source, place: place)
        }
        let general = SettingName(setting.key)
        // A tracker without a limit of its own has the limit of all trackers.
        if setting.tracker != nil, setting.key.scope == .processAndTracker,
            statedValue(of: general) != nil || limit(of: setting, trackers) == nil
        {
            let general = shown(general, of: trackers, hasJournal: hasJournal)
            return ShownSetting(key: setting.name, value: general.value, source: general.source, place: general.place)
        }
        let standard = setting.key == .queuePolicy && !hasJournal ? "wait" : setting.key.defaultValue.text
        let text = limit(of: setting, trackers) ?? defaultText(of: setting, trackers) ?? standard
        let value: SettingValue =
            switch setting.key.kind {
            case .number: Int(text).map(SettingValue.number) ?? .text(text)
            case .flag: .flag(text == "true")
            case .list: .list([])
            case .text: .text(text)
            }
        return ShownSetting(key: setting.name, value: value, source: "default", place: nil)
    }

    /// A limit of deliveries that a tracker has by itself; `nil` for any other setting.
    private func limit(of setting: SettingName, _ trackers: [ConfiguredTracker]) -> String? {
        let tracker = trackers.first { $0.name.lowercased() == setting.tracker?.lowercased() }
        guard let limits = tracker?.deliveryLimits else { return nil }
        return DeliverySettings.all.first { $0.key == setting.key }?.text(limits)
    }

    /// The default of a tracker's setting, which may depend on its other settings; `nil` if there is no such tracker.
    private func defaultText(of setting: SettingName, _ trackers: [ConfiguredTracker]) -> String? {
        guard case .tracker(let type) = setting.key.scope, !setting.key.isSecret else { return nil }
        let name = (setting.tracker ?? type).lowercased()
        return trackers.first { $0.name.lowercased() == name }?.text(of: setting.key)
    }

    /// The value that a source states; `nil` if none does.
    private func statedValue(of setting: SettingName) -> SettingValue? {
        let section = setting.tracker.map(section) ?? self
        switch setting.key.kind {
        case .text: return section.text(setting.key).map(SettingValue.text)
        case .number: return section.integer(setting.key).map(SettingValue.number)
        case .flag: return section.flag(setting.key).map(SettingValue.flag)
        case .list: return section.texts(setting.key).map(SettingValue.list)
        }
    }

    private func words(for source: SettingSource) -> (source: String, place: String?) {
        switch source {
        case .option(let name): ("option", name)
        case .environment(let name): ("environment", name)
        case .file(.file(let path, let line, _)): ("file", "\(path):\(line)")
        case .file(.name(let name)): ("file", name)
        case .standard: ("default", nil)
        }
    }
}
