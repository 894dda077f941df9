import Foundation
import PlanTools

/// Documentation/Build/PlanChanges.md: an introduction, and a section with a table for each group of cases.
///
/// The introduction and the text above each table are written by hand; headings and tables come from the cases.
struct StabilityPage {
    static let url = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../Documentation/Build/PlanChanges.md").standardized

    private let introduction: String
    /// The text above the table of each section, by the section's title.
    private let texts: [String: String]

    /// Reads what is written by hand.
    init(_ page: String) {
        let parts = page.components(separatedBy: "\n## ")
        introduction = parts[0].trimmingCharacters(in: .newlines)
        let sections = parts.dropFirst().map { part in
            let lines = part.components(separatedBy: "\n")
            let text = lines.dropFirst().prefix { !$0.hasPrefix("|") }.joined(separator: "\n")
            return (lines[0], text.trimmingCharacters(in: .newlines))
        }
        texts = Dictionary(sections) { first, _ in first }
    }

    /// The page with the sections and the tables of the cases, and with no others.
    var text: String {
        let sections = StabilityCase.sections.flatMap { title, cases in
            ["## \(title)", texts[title, default: ""], Self.table(of: cases)]
        }
        return ([introduction] + sections).filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
    }

    private static func table(of cases: [StabilityCase]) -> String {
        let columns = ["change"] + Audience.allCases.map(\.title)
        let header = ["| \(columns.joined(separator: " | ")) |", String(repeating: "|---", count: columns.count) + "|"]
        return (header + cases.compactMap(\.row)).joined(separator: "\n")
    }
}
