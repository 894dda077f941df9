import Foundation
import PlanTools
import Testing

/// Documentation/Build/PlanChanges.md agrees with `sluice diff`, because its tables are generated from test cases.
@Suite("Documentation/Build/PlanChanges.md")
struct StabilityTests {
    @Test("each row's example gives exactly one change, of the stated kind", arguments: StabilityCase.all)
    func rows(row: StabilityCase) {
        #expect(row.row != nil, "\(row.diff.changes.map { "\($0.kind): \($0.sentence)" })")
    }

    @Test("the sections and tables of the page are those of the test cases")
    func page() throws {
        let page = try String(contentsOf: StabilityPage.url, encoding: .utf8)
        let generated = StabilityPage(page).text
        // Set by scripts/plan-changes.sh.
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_PLAN_CHANGES"] != nil {
            try generated.write(to: StabilityPage.url, atomically: true, encoding: .utf8)
        }
        let isUpToDate = try String(contentsOf: StabilityPage.url, encoding: .utf8) == generated
        #expect(isUpToDate, "run scripts/plan-changes.sh")
    }

    @Test(
        "a row, a column or a section that differs from the test cases is found",
        arguments: [
            ("| an event is added | compatible |", "| an event is added | **risky**: it is new |"),
            ("| an event is added |", "| an event is made |\n| an event is added |"),
            ("| change | Swift callers |", "| change | callers |"),
            ("\n## Types\n", "\n## Forms\n"),
            ("\n## Privacy\n", "\n## More\n\nText.\n\n## Privacy\n"),
        ]
    )
    func differences(written: String, edited: String) throws {
        let page = StabilityPage(try String(contentsOf: StabilityPage.url, encoding: .utf8)).text
        let changed = page.replacing(written, with: edited, maxReplacements: 1)
        #expect(changed != page)
        #expect(StabilityPage(changed).text != changed)
    }

    @Test("every kind of change that concerns an event has a row")
    func kinds() {
        let missing = Set(PlanChange.Kind.allCases).subtracting(StabilityCase.all.map(\.kind))
        #expect(missing == [.versionChanged])
    }
}
