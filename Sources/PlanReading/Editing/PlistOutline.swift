/// A part of a property list to write.
enum PlistOutline {
    case string(String)
    case strings([String])
    case dictionary([PlistOutlineEntry])
}

/// A key of a dictionary to write, and its value.
struct PlistOutlineEntry {
    var key: String
    var value: PlistOutline
}

/// Writes parts of a property list in a given layout.
struct PlistWriter {
    /// The layout of the surrounding file.
    let layout: PlistLayout

    /// An entry of a dictionary, without white space before or after it; `indent` is the indentation of the dictionary's entries.
    func entry(_ key: String, _ value: PlistOutline, indent: String) -> String {
        let gap: String =
            switch value {
            case .string: layout.gap(layout.stringGap, indent)
            case .strings: layout.gap(layout.arrayGap, indent)
            case .dictionary: layout.gap(layout.dictionaryGap, indent)
            }
        return "<key>\(Self.escaped(key))</key>" + gap + text(of: value, indent: indent)
    }

    private func text(of value: PlistOutline, indent: String) -> String {
        switch value {
        case .string(let text):
            return string(text)
        case .strings(let texts):
            let parts = texts.map(string)
            return layout.hasArraysInOneLine
                ? "<array>\(parts.joined())</array>" : block("array", parts, indent: indent)
        case .dictionary(let entries):
            let inner = indent + layout.unit
            return block("dict", entries.map { entry($0.key, $0.value, indent: inner) }, indent: indent)
        }
    }

    private func string(_ text: String) -> String { "<string>\(Self.escaped(text))</string>" }

    /// An element with one part on each line.
    private func block(_ name: String, _ parts: [String], indent: String) -> String {
        guard let newline = layout.newline else { return "<\(name)>\(parts.joined())</\(name)>" }
        let lines = parts.map { newline + indent + layout.unit + $0 }.joined()
        return "<\(name)>\(lines)\(newline)\(indent)</\(name)>"
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
