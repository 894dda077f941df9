/// The promises of Documentation/Trust/Promises.md, and the tests that show them.
///
/// A test names its promises with the trait `.promise`, directly after the test's name.
struct PromiseMatrix {
    static let page = "Documentation/Trust/Promises.md"
    static let pageOfTests = "Documentation/Trust/PromiseTests.md"

    /// A test or a suite that names promises.
    private struct NamedTest {
        let path: String
        let line: Int
        let name: String
        let promises: [String]
    }

    /// The identifiers of the promises, in the order of the page.
    let promises: [String]
    private let tests: [NamedTest]
    /// The rows of the page without an identifier.
    private let unnamed: [Finding]
    /// The traits that are at another place.
    private let misplaced: [Finding]

    /// Reads the promises from the first column of the page's tables, and the traits from the sources of the tests.
    init(page: String, files: [TextFile]) {
        promises = page.matches(of: /(?m)^\| `([a-z0-9-]+)` \|/).map { String($0.1) }
        unnamed = page.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            guard line.hasPrefix("|"), line.prefixMatch(of: /\| (`[a-z0-9-]+`|promise) \||\|---/) == nil else {
                return nil
            }
            return Finding(
                path: Self.page,
                line: index + 1,
                sentence: "a promise has no identifier in its first column"
            )
        }
        let files = files.filter { $0.text.containsBytes(".promise(") }
        tests = files.flatMap(Self.tests)
        misplaced = files.compactMap { file in
            let traits = file.text.matches(of: /\.promise\(/).count
            guard traits > Self.tests(in: file).count else { return nil }
            return Finding(path: file.path, line: 0, sentence: "write .promise directly after the test's name")
        }
    }

    /// Promises without a test, identifiers that the page has twice or not at all, and traits that cannot be read.
    var findings: [Finding] {
        let repeated = promises.indices.filter { promises[..<$0].contains(promises[$0]) }.map {
            Finding(path: Self.page, line: 0, sentence: "'\(promises[$0])' is there twice")
        }
        let shown = Set(tests.flatMap(\.promises))
        let untested = promises.filter { !shown.contains($0) }.map {
            Finding(path: Self.page, line: 0, sentence: "no test has the trait .promise(\"\($0)\")")
        }
        let unknown = tests.flatMap { test in
            test.promises.filter { !promises.contains($0) }.map {
                Finding(path: test.path, line: test.line, sentence: "\(Self.page) has no promise '\($0)'")
            }
        }
        return unnamed + repeated + untested + unknown + misplaced
    }

    /// The text of `pageOfTests`.
    var text: String {
        let introduction = """
            # The tests of the promises

            The tests that show each promise of [Promises.md](Promises.md), by their files in `Tests`.
            `scripts/promises.sh` writes this page from the traits `.promise` of the tests.

            """
        return introduction + promises.map { "\n## \($0)\n\n" + items(of: $0) }.joined()
    }

    /// A line for each file with tests that show a promise.
    private func items(of promise: String) -> String {
        Dictionary(grouping: tests.filter { $0.promises.contains(promise) }, by: \.path)
            .sorted { $0.key < $1.key }
            .map { path, tests in
                let names = tests.map { "\"\($0.name)\"" }.joined(separator: ", ")
                return "- \(path.dropFirst("Tests/".count)): \(names)\n"
            }
            .joined()
    }

    private static func tests(in file: TextFile) -> [NamedTest] {
        file.text.matches(of: /@(?:Test|Suite)\(\s*"(.*?)",\s*\.promise\(([^)]*)\)/).map { match in
            NamedTest(
                path: file.path,
                line: file.text[..<match.range.lowerBound].count { $0 == "\n" } + 1,
                name: String(match.1),
                promises: match.2.matches(of: /"(.*?)"/).map { String($0.1) }
            )
        }
    }
}
