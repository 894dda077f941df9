import Foundation
import PlanTools
import Testing

/// Documentation/Build/PlanChanges.md agrees with `sluice diff`, because each of its rows is a test case.
@Suite("Documentation/Build/PlanChanges.md")
struct StabilityTests {
    private static let page = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Documentation/Build/PlanChanges.md")

    @Test("each row's example gives exactly one change, of the stated kind", arguments: StabilityCase.all)
    func rows(row: StabilityCase) {
        #expect(row.row != nil, "\(row.diff.changes.map { "\($0.kind): \($0.sentence)" })")
    }

    @Test("the tables of the page equal the test cases, row by row", arguments: StabilityCase.sections.map(\.title))
    func table(section: String) throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let cases = StabilityCase.sections.first { $0.title == section }?.cases ?? []
        let documented = Self.rows(of: page, under: "## \(section)")
        #expect(
            documented == cases.compactMap(\.row),
            "the rows should be:\n\(cases.compactMap(\.row).joined(separator: "\n"))"
        )
    }

    @Test("every kind of change that concerns an event has a row")
    func kinds() {
        let missing = Set(PlanChange.Kind.allCases).subtracting(StabilityCase.all.map(\.kind))
        #expect(missing == [.versionChanged])
    }

    /// The rows of the table under a heading, without the table's header.
    private static func rows(of page: String, under heading: String) -> [String] {
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let section = lines.drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("## ") }
        return Array(section.filter { $0.hasPrefix("|") }.dropFirst(2))
    }
}
