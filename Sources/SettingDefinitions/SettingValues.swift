/// What the command line, the environment and the configuration file state, for the process or for one of its trackers.
package protocol SettingValues {
    /// A text, which is never empty.
    func text(_ key: SettingKey) -> String?
    func texts(_ key: SettingKey) -> [String]?
    func flag(_ key: SettingKey) -> Bool?
    /// A whole number, whether or not it is in the setting's range.
    func integer(_ key: SettingKey) -> Int?

    /// The setting's name, with the tracker that it is for.
    func name(of key: SettingKey) -> String
    /// The precedence of the source that states the value: the higher, the more it counts.
    func precedence(of key: SettingKey) -> Int

    /// Adds a problem with the value of a setting, as one sentence without a full stop and without secrets.
    func note(_ key: SettingKey, _ sentence: String, as code: SettingProblem.Code)
    /// Adds a problem at a place.
    func note(_ code: SettingProblem.Code, at place: SettingProblem.Place, _ sentence: String)
}

extension SettingValues {
    /// Adds a problem with the value of a setting.
    package func note(_ key: SettingKey, _ sentence: String) {
        note(key, sentence, as: .invalidValue)
    }

    /// A whole number in the setting's range; `nil` if there is none, or another one, which is a problem then.
    package func number(_ key: SettingKey) -> Int? {
        guard let value = integer(key) else { return nil }
        if let range = key.range, !range.contains(value) {
            let allowed =
                range.upperBound == .max
                ? "of at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            note(key, "expected a whole number \(allowed), found \(value)")
            return nil
        }
        return value
    }

    /// A duration, as a whole number of the unit that the setting's name ends with.
    package func duration(_ key: SettingKey) -> Duration? {
        number(key).map { SettingUnit(of: key.name).duration * $0 }
    }

    /// One of the values of a type that lists them.
    package func choice<Choice>(_ key: SettingKey) -> Choice? where Choice: RawRepresentable<String> & CaseIterable {
        guard let text = text(key) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        note(key, "expected one of \(allowed), found '\(text)'")
        return nil
    }
}

// MARK: Secrets

/// A secret, and the setting that states it.
package struct Secret {
    package let bytes: [UInt8]
    package let key: SettingKey

    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension SettingValues {
    /// A secret, stated itself or in a file; `nil` if there is none.
    ///
    /// If there are both, the one whose source has precedence counts; two in the same source are a problem.
    package func secret(_ key: SettingKey, file fileKey: SettingKey) -> Secret? {
        let text = text(key)
        guard let file = self.text(fileKey) else { return text.map { Secret(bytes: Array($0.utf8), key: key) } }
        if let text {
            let (own, other) = (precedence(of: key), precedence(of: fileKey))
            if own == other {
                note(key, "set only one of \(name(of: key)) and \(name(of: fileKey))", as: .conflictingSettings)
                return nil
            }
            if own > other { return Secret(bytes: Array(text.utf8), key: key) }
        }
        return contents(of: fileKey, file).map { Secret(bytes: $0, key: fileKey) }
    }

    /// The content of a file that a setting names, without one line break at its end; `nil` if it cannot be read.
    package func contents(of key: SettingKey, _ file: String) -> [UInt8]? {
        do {
            let bytes = try SecretFile.contents(of: file)
            if !bytes.isEmpty { return bytes }
            note(key, "the file '\(file)' is empty")
        } catch {
            note(key, "the file '\(file)' cannot be read")
        }
        return nil
    }
}
