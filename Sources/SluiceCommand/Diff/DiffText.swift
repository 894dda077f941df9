import EventSchema
import PlanTools

extension PlanDiff {
    /// For terminals: a line for each change, as compilers write it, and below it what it means for whom.
    var textLines: [TerminalText] {
        Compatibility.worstFirst.flatMap(changes).flatMap { [$0.textLine] + $0.impactLines }
    }

    /// One line: `3 changes: 1 breaking, 2 compatible`.
    var summary: String {
        guard !changes.isEmpty else { return "no changes" }
        let counts = Compatibility.worstFirst.map { ($0, changes($0).count) }.filter { $0.1 > 0 }
        let list = counts.map { "\($0.1) \($0.0.rawValue)" }.joined(separator: ", ")
        return "\(changes.count) change\(changes.count == 1 ? "" : "s"): \(list)"
    }
}

extension Compatibility {
    /// The order of reports.
    static let worstFirst: [Compatibility] = [.breaking, .risky, .compatible]
}

extension PlanChange {
    fileprivate var textLine: TerminalText {
        let start = [location.map(\.description), compatibility.rawValue, subject].compactMap { $0 }
        return TerminalText(escaping: (start + ["\(sentence) [\(kind.rawValue)]"]).joined(separator: ": "))
    }

    fileprivate var impactLines: [TerminalText] {
        var table = TextTable(header: [], numbers: [])
        for audience in Audience.allCases {
            let impact = impacts[audience]
            table.add(["   ", "\(audience.title)", "\(impact.compatibility.rawValue)", "\(impact.reason)"])
        }
        // Without the header, which has no words here.
        return Array(table.lines.dropFirst())
    }
}
