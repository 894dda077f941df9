import EventModel
import EventSchema
import PlanTools

extension PlanDiff {
    /// A line for each change, in the format of compilers, followed by its impact on each audience.
    var textLines: [TerminalText] {
        Compatibility.worstFirst.flatMap(changes).flatMap { [$0.textLine] + $0.impactLines }
    }

    /// A summary such as `3 changes: 1 breaking, 2 compatible`.
    var summary: String {
        guard !changes.isEmpty else { return "no changes" }
        let counts = Compatibility.worstFirst.map { ($0, changes($0).count) }.filter { $0.1 > 0 }
        let list = counts.map { "\($0.1) \($0.0.rawValue)" }.joined(separator: ", ")
        return "\(changes.count.of("change")): \(list)"
    }
}

extension Compatibility {
    /// The order in reports.
    static let worstFirst: [Compatibility] = [.breaking, .risky, .compatible]
}

extension PlanChange {
    fileprivate var textLine: TerminalText {
        let start = [location.map(\.description), compatibility.rawValue, subject].compactMap { $0 }
        return TerminalText(escaping: (start + ["\(sentence) [\(kind.rawValue)]"]).joined(separator: ": "))
    }

    fileprivate var impactLines: [TerminalText] {
        var table = TextTable()
        for audience in Audience.allCases {
            let impact = impacts[audience]
            table.add(["   ", "\(audience.title)", "\(impact.compatibility.rawValue)", "\(impact.reason)"])
        }
        return table.lines
    }
}
