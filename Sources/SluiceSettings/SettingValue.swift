import Configuration
package import SettingDefinitions

/// The value of a setting.
package enum SettingValue: Hashable, Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([String])

    /// Parses the text of a value that is changed while the process runs; `nil` if it is none of this kind.
    package init?(_ text: String, _ kind: SettingKind) {
        switch kind {
        case .number:
            guard let number = Int(text) else { return nil }
            self = .number(number)
        case .text:
            guard !text.isEmpty else { return nil }
            self = .text(text)
        // None of these can be changed.
        case .flag, .list: return nil
        }
    }

    var content: ConfigContent {
        switch self {
        case .text(let text): .string(text)
        case .number(let number): .int(number)
        case .flag(let flag): .bool(flag)
        case .list(let texts): .stringArray(texts)
        }
    }
}

extension SettingValue {
    /// The value without its secrets.
    func redacted(as key: SettingKey) -> SettingValue {
        switch (self, key.secrecy) {
        case (_, .harmless): self
        case (.list(let texts), .partlySecret), (.list(let texts), .partlySecretList): .list(key.redacted(list: texts))
        case (.text(let text), _): .text(key.redacted(text))
        default: .text(SettingKey.mask)
        }
    }
}

extension SettingValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        case .list(let texts): texts.isEmpty ? "none" : texts.joined(separator: "; ")
        }
    }
}

extension SettingValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .list(let texts): try container.encode(texts)
        }
    }
}
