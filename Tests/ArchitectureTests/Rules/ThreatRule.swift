/// Requires that the tests exist that the threat model names, in quotation marks, in the last column of its tables.
enum ThreatRule {
    static let page = "Documentation/Trust/ThreatModel.md"

    /// The names of tests that the page has, each with the number of its line.
    static func names(in page: TextFile) -> [(line: Int, name: Substring)] {
        page.lines.enumerated().filter { $0.element.hasPrefix("|") }.flatMap { index, row in
            (row.split(separator: "|").last ?? "").matches(of: /"(.*?)"/).map { (index + 1, $0.1) }
        }
    }

    /// The names that no test in `tests` has.
    static func findings(in page: TextFile, tests: [TextFile]) -> [Finding] {
        let text = tests.map(\.text).joined(separator: "\n")
        return names(in: page).filter { !text.containsBytes("\"\($0.name)\"") }.map {
            Finding(path: page.path, line: $0.line, sentence: "no test has the name \"\($0.name)\"")
        }
    }
}
