import Configuration

/// A setting as `sluice config show` prints it.
struct ShownSetting: Encodable {
    /// A value; a secret is replaced.
    enum Value: Encodable, CustomStringConvertible {
        case text(String)
        case number(Int)
        case flag(Bool)
        case list([String])

        var description: String {
            switch self {
            case .text(let text): text
            case .number(let number): "\(number)"
            case .flag(let flag): "\(flag)"
            case .list(let texts): texts.isEmpty ? "none" : texts.joined(separator: "; ")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            case .list(let texts): try container.encode(texts)
            }
        }
    }

    let key: String
    let value: Value
    /// `option`, `environment`, `file` or `default`.
    let source: String
    /// The option, the variable, or the file and line; `nil` for a default.
    let place: String?

    /// Where the value comes from, in words.
    var origin: String { place ?? source }
}

extension SettingsReader {
    /// All settings, then those of the trackers in the section `trackers`.
    ///
    /// Of the trackers that each type has by itself, only limits of their own are listed.
    func shownSettings(hasJournal: Bool) -> [ShownSetting] {
        let named = namedTrackers.filter { TrackerType(rawValue: $0.name.lowercased()) == nil }
        let limits = TrackerType.allCases.flatMap { type in
            SettingKey.settings(of: type).filter(\.isLimitOfTracker).map { Setting($0, of: type.rawValue) }
        }
        let settings =
            SettingKey.allCases.map { Setting($0) } + limits.filter { statedValue(of: $0) != nil }
            + named.flatMap { tracker in SettingKey.settings(of: tracker.type).map { Setting($0, of: tracker.name) } }
        return settings.map { shown($0, hasJournal: hasJournal) }
    }

    private func shown(_ setting: Setting, hasJournal: Bool) -> ShownSetting {
        if let value = statedValue(of: setting) {
            let (source, place) = words(for: source(of: setting))
            let redacted = Redaction.apply(to: value, of: setting.key)
            return ShownSetting(key: setting.name, value: redacted, source: source, place: place)
        }
        // A tracker without a limit of its own has the limit of all trackers.
        if setting.tracker != nil, setting.key.isLimitOfTracker {
            let general = shown(Setting(setting.key), hasJournal: hasJournal)
            return ShownSetting(key: setting.name, value: general.value, source: general.source, place: general.place)
        }
        let text = setting.key == .queuePolicy && !hasJournal ? "wait" : setting.key.defaultText
        let value: ShownSetting.Value =
            switch setting.key.kind {
            case .number: Int(text).map(ShownSetting.Value.number) ?? .text(text)
            case .flag: .flag(text == "true")
            case .list: .list([])
            case .text: .text(text)
            }
        return ShownSetting(key: setting.name, value: value, source: "default", place: nil)
    }

    /// The value that a source states; `nil` if none does.
    private func statedValue(of setting: Setting) -> ShownSetting.Value? {
        let (key, tracker) = (setting.key, setting.tracker)
        switch key.kind {
        case .text: return string(key, of: tracker).map(ShownSetting.Value.text)
        case .number: return integer(key, of: tracker).map(ShownSetting.Value.number)
        case .flag: return bool(key, of: tracker).map(ShownSetting.Value.flag)
        case .list: return strings(key, of: tracker).map(ShownSetting.Value.list)
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
