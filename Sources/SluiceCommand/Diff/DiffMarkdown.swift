import EventSchema
import PlanTools

/// The changes as a comment on a pull request.
struct DiffMarkdown {
    /// GitHub accepts 65,536 characters per comment; the rest is left for text that callers add.
    private static let maximumCharacters = 60_000

    private let diff: PlanDiff

    init(_ diff: PlanDiff) {
        self.diff = diff
    }

    /// The whole comment: a headline, then a list for each compatibility, the worst first.
    var text: String {
        guard !diff.changes.isEmpty else { return "### Tracking plan: no changes" }
        var text = "### Tracking plan: \(diff.summary)\n"
        var left = diff.changes.count
        for compatibility in Compatibility.worstFirst {
            let changes = diff.changes(compatibility)
            guard let first = changes.first, text.count + Self.item(first).count < Self.maximumCharacters else {
                continue
            }
            // Compatible changes need no attention.
            let isFolded = compatibility == .compatible
            text += isFolded ? "\n<details><summary>compatible</summary>\n\n" : "\n#### \(compatibility.rawValue)\n\n"
            for change in changes {
                let item = Self.item(change)
                guard text.count + item.count < Self.maximumCharacters else { break }
                text += item
                left -= 1
            }
            text += isFolded ? "\n</details>\n" : ""
        }
        return text + (left > 0 ? "\n… and \(left) more, which exceed the length of a comment; see `sluice diff`." : "")
    }

    /// A change with its impact on each audience, the worst first.
    private static func item(_ change: PlanChange) -> String {
        let subject = [change.event, change.property].compactMap { $0 }.map { "**\(escaped($0))**" }
        let place = change.location.map { " (\(escaped("\($0.file):\($0.line)")))" } ?? ""
        let audiences = Audience.allCases.enumerated().sorted { left, right in
            let (worse, better) = (change.impacts[left.element], change.impacts[right.element])
            if worse.compatibility != better.compatibility { return worse.compatibility > better.compatibility }
            return left.offset < right.offset
        }
        let lines = audiences.map { _, audience in
            let impact = change.impacts[audience]
            let word = impact.compatibility.rawValue
            let marked = impact.compatibility == .compatible ? word : "**\(word)**"
            return "  - \(audience.title): \(marked): \(impact.reason)\n"
        }
        return "- \((subject + [escaped(change.sentence)]).joined(separator: " · "))\(place)\n\(lines.joined())"
    }

    /// Escapes a text from the plan, so that it cannot contain markup, links or mentions.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "`", "*", "_", "{", "}", "[", "]", "(", ")", "+", "-", "!", "|", "~", "$", "^":
                result += "\\\(scalar)"
            // A backslash would not prevent links, mentions, issue references and tags.
            case "&", "<", ">", "@", "#", ":", "/", ".":
                result += "&#\(scalar.value);"
            default:
                let isControl = scalar.properties.generalCategory == .control
                result += isControl ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
            }
        }
        return result
    }
}
