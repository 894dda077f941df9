import EventSchema
import Foundation
import SettingDefinitions
import SystemPackage
import TrackerKit
import Yams

/// The settings that a configuration file states, each with its place, and what is wrong with the file.
///
/// Whether a value is in its range, and whether settings contradict each other, is found by reading the settings.
package struct ConfigurationDocument {
    /// A value, and where it begins.
    struct Entry {
        let value: SettingValue
        let place: SettingProblem.Place
    }

    /// A tracker of the section `trackers`.
    package struct Tracker: Sendable {
        package let name: String
        let type: any ConfigurableTracker.Type
        /// Whether its section has the key `type`, which says that the tracker exists.
        let statesType: Bool
        /// Where its name is.
        let place: SettingProblem.Place
    }

    let path: String
    private(set) var entries: [SettingName: Entry] = [:]
    /// The settings whose values are of the wrong kind.
    private(set) var rejected: Set<SettingName> = []
    /// The trackers of the section `trackers`, in their order.
    private(set) var trackers: [Tracker] = []
    private(set) var problems: [SettingProblem] = []
    private let tree: ConfigurationTree?

    /// Reads a file: JSON if its name ends with `.json`, and otherwise YAML.
    init(path: String) {
        self.path = path
        do {
            tree = try Self.tree(of: path)
        } catch {
            tree = nil
            problems.append(Self.problem(of: error, in: path))
        }
        if let root = tree?.root, !Self.isNull(root) { readRoot(root) }
    }

    private static func tree(of path: String) throws -> ConfigurationTree {
        let descriptor = try FileDescriptor.open(FilePath(path), .readOnly)
        let handle = FileHandle(fileDescriptor: descriptor.rawValue, closeOnDealloc: true)
        let data = try handle.readToEnd() ?? Data()
        guard let text = String(data: data, encoding: .utf8) else {
            throw ConfigurationTree.SyntaxError(place: nil, sentence: "it is not UTF-8")
        }
        return path.hasSuffix(".json") ? try jsonTree(of: text) : try ConfigurationTree(text: text)
    }

    /// Reads JSON as YAML, and rejects what is YAML and not JSON.
    private static func jsonTree(of text: String) throws(ConfigurationTree.SyntaxError) -> ConfigurationTree {
        let problem = text.isEmpty ? nil : jsonProblem(of: text)
        do throws(ConfigurationTree.SyntaxError) {
            let tree = try ConfigurationTree(text: JSONAsYAML.text(of: text))
            if let problem { throw problem }
            return tree
        } catch {
            // Valid JSON that libyaml rejects all the same, such as a control character in a string.
            throw problem == nil ? error.ofValidText : error
        }
    }

    /// Why a text is not JSON; `nil` if it is.
    private static func jsonProblem(of text: String) -> ConfigurationTree.SyntaxError? {
        do {
            _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
            return nil
        } catch {
            let sentence = (error as NSError).userInfo["NSDebugDescription"].map { "\($0)" } ?? "it cannot be parsed"
            // Foundation gives the place as an offset in bytes, and only in its sentence.
            guard let match = sentence.firstMatch(of: /^(.*) around character (\d+)/), let offset = Int(match.2) else {
                return ConfigurationTree.SyntaxError(place: nil, sentence: sentence)
            }
            let before = String(decoding: text.utf8.prefix(offset), as: UTF8.self).unicodeScalars
            let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
            let place = (line: lines.count, column: (lines.last?.count ?? 0) + 1)
            return ConfigurationTree.SyntaxError(place: place, sentence: String(match.1))
        }
    }

    private static func problem(of error: any Error, in path: String) -> SettingProblem {
        guard let error = error as? ConfigurationTree.SyntaxError else {
            // Foundation describes an error of the system at length; the system has a sentence for it.
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            let reason = (error as? Errno ?? cause.map { Errno(rawValue: CInt($0.code)) }).map { "\($0)" } ?? "\(error)"
            return SettingProblem(code: .unreadableFile, place: place(nil, in: path), sentence: reason)
        }
        let format = path.hasSuffix(".json") ? "not JSON" : "not YAML"
        return SettingProblem(
            code: .invalidSyntax,
            place: .file(path: path, line: error.place?.line ?? 1, column: error.place?.column ?? 1),
            sentence: "\(error.isOfValidText ? "cannot be read" : format): \(error.sentence)"
        )
    }

    private mutating func readRoot(_ root: Node) {
        if let mapping = root.mapping {
            read(mapping, of: Scope(), under: [])
        } else {
            note(.wrongType, at: root.mark, "expected settings by their names, found \(Self.words(for: root))")
        }
    }

    // MARK: Sections

    /// The keys that may be in a part of the file.
    private struct Scope {
        /// The tracker whose section it is; `nil` for the whole file.
        var tracker: String?
        /// The settings by their keys beneath the part.
        var settings = Dictionary(uniqueKeysWithValues: SettingCatalog.keys.map { ($0.name, $0) })
        /// Keys that are read elsewhere.
        var others: Set<String> = []

        /// The sections, such as `http` and `http.timeouts`.
        var sections: Set<String> {
            Set(
                settings.keys.flatMap { key in
                    let parts = key.split(separator: ".")
                    return (1..<max(1, parts.count)).map { parts.prefix($0).joined(separator: ".") }
                }
            )
        }

        /// The full name of a key beneath the part.
        func name(_ key: String) -> String { tracker.map { "trackers.\($0).\(key)" } ?? key }

        /// The end of a sentence about an unknown key.
        func hint(for key: String) -> String {
            let known = settings.keys.sorted()
            let last = { (key: String) in key.split(separator: ".").last.map(String.init) }
            let nearest =
                Spelling.nearest(to: key, among: known + sections.sorted()) ?? known.first { last($0) == last(key) }
            return nearest.map { "did you mean '\(name($0))'?" } ?? "'sluice config example' shows all settings"
        }
    }

    private mutating func read(_ mapping: Node.Mapping, of scope: Scope, under parents: [String]) {
        let sections = scope.sections
        forEachKey(of: mapping) { document, name, keyMark, value in
            let path = parents + [name]
            let key = path.joined(separator: ".")
            if scope.others.contains(key) { return }
            if key == "trackers", scope.tracker == nil, let mapping = value.mapping {
                return document.readTrackers(mapping)
            }
            if let setting = scope.settings[key] {
                document.read(value, of: SettingName(setting, ofTracker: scope.tracker))
            } else if sections.contains(key) {
                if let mapping = value.mapping {
                    document.read(mapping, of: scope, under: path)
                } else if !Self.isNull(value) {
                    document.note(
                        .wrongType,
                        at: value.mark,
                        "\(scope.name(key)): expected a section with keys, found \(Self.words(for: value))"
                    )
                }
            } else {
                document.note(
                    .unknownKey,
                    at: keyMark,
                    "there is no setting \(quoted(scope.name(key))); \(scope.hint(for: key))"
                )
            }
        }
    }

    /// Calls `body` with each key of a section; reports those that occur twice and those that are no texts.
    private mutating func forEachKey(
        of mapping: Node.Mapping,
        _ body: (inout Self, String, Mark?, Node) -> Void
    ) {
        var lines: [String: Int] = [:]
        for (key, value) in mapping {
            guard let name = tree?.name(of: key) else {
                note(.wrongType, at: key.mark, "expected the name of a setting, found \(Self.words(for: key))")
                continue
            }
            if let line = lines[name] {
                note(.duplicateKey, at: key.mark, "the key \(quoted(name)) is there twice, first in line \(line)")
                // A section may have further problems.
                if value.mapping == nil { continue }
            }
            lines[name] = lines[name] ?? key.mark?.line ?? 1
            body(&self, name, key.mark, value)
        }
    }

    // MARK: Trackers

    private mutating func readTrackers(_ mapping: Node.Mapping) {
        let strict = "strict"
        forEachKey(of: mapping) { document, name, mark, value in
            if name == strict {
                document.read(value, of: SettingName(.strictTrackers))
            } else if let section = value.mapping {
                document.readTracker(name, mark, section)
            } else {
                document.note(
                    .wrongType,
                    at: value.mark,
                    "trackers.\(name): expected a section with the tracker's type and settings, "
                        + "found \(Self.words(for: value))"
                )
            }
        }
    }

    private mutating func readTracker(_ name: String, _ mark: Mark?, _ section: Node.Mapping) {
        guard !name.isEmpty else { return note(.invalidValue, at: mark, "a tracker needs a name") }
        let variable = SettingName.environmentVariable(for: ["trackers", name])
        if let other = trackers.first(where: {
            SettingName.environmentVariable(for: ["trackers", $0.name]) == variable
        }) {
            if other.name != name {
                let names = "\(quoted(other.name)) and \(quoted(name))"
                note(.duplicateKey, at: mark, "the trackers \(names) must differ in more than case and punctuation")
            }
            return
        }
        var scope = Scope(tracker: name, others: ["type"])
        let type = type(of: name, mark, section)
        let types = type.map { [$0] } ?? SettingCatalog.trackerTypes
        let settings = types.flatMap { SettingCatalog.keys(ofTracker: $0) }
        scope.settings = Dictionary(settings.map { ($0.nameOfTracker ?? $0.name, $0) }) { first, _ in first }
        if let type {
            let statesType = section["type"].map { !Self.isNull($0) } ?? false
            trackers.append(Tracker(name: name, type: type, statesType: statesType, place: place(mark)))
        }
        read(section, of: scope, under: [])
    }

    /// The type that a tracker's section states, or that its name is.
    private mutating func type(of name: String, _ mark: Mark?, _ section: Node.Mapping)
        -> (any ConfigurableTracker.Type)?
    {
        let types = SettingCatalog.trackerTypeNames
        let own = SettingCatalog.trackerType(named: name)
        guard let value = section["type"], !Self.isNull(value) else {
            if own == nil {
                let sentence = "the tracker \(quoted(name)) has no type; types are \(types.joined(separator: ", "))"
                note(.missingSetting, at: mark, sentence)
            }
            return own
        }
        let text = value.string ?? ""
        guard let type = SettingCatalog.trackerTypes.first(where: { $0.type == text }) else {
            let hint = Spelling.hint(for: text, among: types, listedAs: "types are")
            note(.invalidValue, at: value.mark, "trackers.\(name).type: unknown type \(quoted(text)); \(hint)")
            return own
        }
        if let own, type.type != own.type {
            let sentence = "the tracker \(quoted(name)) always has the type \(own.type)"
            note(.invalidValue, at: value.mark, "\(sentence); give one of another type another name")
            return own
        }
        return type
    }

    // MARK: Values

    private mutating func read(_ value: Node, of setting: SettingName) {
        // Written in two ways, such as `postgres.url` and `trackers.postgres.url`.
        if let place = entries[setting]?.place, case .file(_, let line, _) = place {
            return note(.duplicateKey, at: value.mark, "\(setting.name) has a value already, in line \(line)")
        }
        // A key without a value has its default, and so has one with an empty text, which templates write for it.
        guard !Self.isNull(value), Self.text(of: value) != "", let content = content(of: value, setting) else { return }
        entries[setting] = Entry(value: content, place: place(value.mark))
    }

    /// The value as its setting needs it; reports a value of another kind.
    private mutating func content(of value: Node, _ setting: SettingName) -> SettingValue? {
        switch setting.key.kind {
        case .text:
            if let text = Self.text(of: value) { return .text(text) }
        case .number:
            if let number = Self.number(of: value) { return .number(number) }
        case .flag:
            if Self.tag(of: value) == .bool, let text = value.string, text == "true" || text == "false" {
                return .flag(text == "true")
            }
        case .list:
            if let nodes = value.sequence {
                let texts = nodes.compactMap(Self.text)
                if texts.count == nodes.count { return .list(texts) }
                for node in nodes where Self.text(of: node) == nil { noteKind(of: node, .text, setting) }
                return nil
            }
        }
        noteKind(of: value, setting.key.kind, setting)
        return nil
    }

    private mutating func noteKind(of value: Node, _ kind: SettingKind, _ setting: SettingName) {
        rejected.insert(setting)
        let quotes = kind == .text && value.scalar != nil ? "; put it in quotation marks" : ""
        let found =
            switch (kind, Self.tag(of: value)) {
            case (.number, .int): "one that is too large or not decimal"
            case (.flag, .bool): quoted(value.string ?? "")
            default: Self.words(for: value)
            }
        note(.wrongType, at: value.mark, "\(setting.name): expected \(kind.words), found \(found)\(quotes)")
    }

    private static func text(of node: Node) -> String? { tag(of: node) == .str ? node.string : nil }

    /// A decimal number without separators and leading zeros, which YAML has a meaning of its own for.
    private static func number(of node: Node) -> Int? {
        guard tag(of: node) == .int, let text = node.string, text.wholeMatch(of: /-?(?:0|[1-9][0-9]*)/) != nil else {
            return nil
        }
        return Int(text)
    }

    private static func tag(of node: Node) -> Tag.Name { Tag.Name(rawValue: node.tag.rawValue) }

    private static func isNull(_ node: Node) -> Bool { tag(of: node) == .null }

    private static func words(for node: Node) -> String {
        if node.mapping != nil { return "a section" }
        if node.sequence != nil { return "a list" }
        switch tag(of: node) {
        case .int: return "a number"
        case .float: return "a number with a fraction"
        case .bool: return "true or false"
        case .null: return "nothing"
        case .timestamp: return "a time"
        default: return "a text"
        }
    }

    // MARK: Problems

    private func place(_ mark: Mark?) -> SettingProblem.Place { Self.place(mark, in: path) }

    private static func place(_ mark: Mark?, in path: String) -> SettingProblem.Place {
        .file(path: path, line: mark?.line ?? 1, column: mark?.column ?? 1)
    }

    private mutating func note(_ code: SettingProblem.Code, at mark: Mark?, _ sentence: String) {
        problems.append(SettingProblem(code: code, place: place(mark), sentence: sentence))
    }
}
