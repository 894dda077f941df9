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
    /// Of the trackers that each type has by itself, only limits of their own are listed.
    package func shownSettings(hasJournal: Bool) -> [ShownSetting] {
        let named = namedTrackers.filter { SettingCatalog.trackerType(named: $0.name) == nil }
        let limits = SettingCatalog.trackerTypeNames.flatMap { tracker in
            SettingCatalog.keys.filter { $0.scope == .processAndTracker }.map { SettingName($0, ofTracker: tracker) }
        }
        let settings =
            SettingCatalog.keys.map { SettingName($0) } + limits.filter { statedValue(of: $0) != nil }
            + named.flatMap { tracker in
                SettingCatalog.keys(ofTracker: tracker.type).map { SettingName($0, ofTracker: tracker.name) }
            }
        return settings.map { shown($0, hasJournal: hasJournal) }
    }

    private func shown(_ setting: SettingName, hasJournal: Bool) -> ShownSetting {
        if let value = statedValue(of: setting) {
            let (source, place) = words(for: source(of: setting))
            let redacted = value.redacted(as: setting.key)
            return ShownSetting(key: setting.name, value: redacted, source: source, place: place)
        }
        // A tracker without a limit of its own has the limit of all trackers.
        if setting.tracker != nil, setting.key.scope == .processAndTracker {
            let general = shown(SettingName(setting.key), hasJournal: hasJournal)
            return ShownSetting(key: setting.name, value: general.value, source: general.source, place: general.place)
        }
        let text = setting.key == .queuePolicy && !hasJournal ? "wait" : setting.key.defaultValue.text
        let value: SettingValue =
            switch setting.key.kind {
            case .number: Int(text).map(SettingValue.number) ?? .text(text)
            case .flag: .flag(text == "true")
            case .list: .list([])
            case .text: .text(text)
            }
        return ShownSetting(key: setting.name, value: value, source: "default", place: nil)
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
