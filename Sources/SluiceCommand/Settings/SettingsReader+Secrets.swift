/// A secret, and the setting that states it.
struct Secret {
    let bytes: [UInt8]
    let key: SettingKey

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension SettingsReader {
    /// A secret, stated itself or in a file; `nil` if there is none.
    ///
    /// If there are both, the one whose source has precedence counts; two in the same source are a problem.
    func secret(_ key: SettingKey, file fileKey: SettingKey, of tracker: String? = nil) -> Secret? {
        let text = string(key, of: tracker)
        guard let file = string(fileKey, of: tracker) else {
            return text.map { Secret(bytes: Array($0.utf8), key: key) }
        }
        if let text {
            let (setting, fileSetting) = (Setting(key, of: tracker), Setting(fileKey, of: tracker))
            let (own, other) = (source(of: setting).precedence, source(of: fileSetting).precedence)
            if own == other {
                let sentence = "set only one of \(setting.name) and \(fileSetting.name)"
                note(key, of: tracker, sentence, as: .conflictingSettings)
                return nil
            }
            if own > other { return Secret(bytes: Array(text.utf8), key: key) }
        }
        return contents(of: fileKey, file, of: tracker).map { Secret(bytes: $0, key: fileKey) }
    }

    /// The content of a file that a setting names, without one line break at its end; `nil` if it cannot be read.
    func contents(of key: SettingKey, _ file: String, of tracker: String? = nil) -> [UInt8]? {
        do {
            let bytes = try SecretFile.contents(of: file)
            if !bytes.isEmpty { return bytes }
            note(key, of: tracker, "the file '\(file)' is empty")
        } catch {
            note(key, of: tracker, "the file '\(file)' cannot be read")
        }
        return nil
    }
}
