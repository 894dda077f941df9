import Foundation
import Testing

/// Everything that the documents refer to exists: files, headings and modules, and a test of each promise.
@Suite struct DocumentationTests {
    @Test("every module that others can import has a page, which `make docs` builds")
    func pages() throws {
        let libraries = try Repository.text(of: "Package.swift").split(separator: "The products before version 0.1")[0]
            .matches(of: /\.library\(name: "(\w+)"/).map(\.1)
        #expect(libraries.count >= 7)
        for name in libraries {
            let page = try Repository.text(of: "Sources/\(name)/\(name).docc/\(name).md")
            #expect(page.hasPrefix("# ``\(name)``\n") && page.contains("\n## Topics\n"), "\(name)")
        }
    }

    @Test("every link in the documents to a file or a heading has a target")
    func links() {
        let documents = Repository.files.filter { $0.path.hasSuffix(".md") }
        let texts = Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0.text) })
        let linking = documents.filter { !$0.path.contains(".docc/") }
        #expect(linking.count >= 10)
        for document in linking {
            let findings = LinkRule.findings(in: document, documents: texts) { path in
                FileManager.default.fileExists(atPath: Repository.root.appendingPathComponent(path).path)
            }
            #expect(findings == [])
        }
    }

    @Test("every test that the threat model names exists")
    func threats() throws {
        let page = TextFile(path: ThreatRule.page, text: try Repository.text(of: ThreatRule.page))
        #expect(ThreatRule.names(in: page).count > 30)
        // Without these tests themselves, whose examples of names are in quotation marks, too.
        let tests = Repository.swiftFiles(in: "Tests").filter { !$0.path.hasPrefix("Tests/ArchitectureTests/") }
        #expect(ThreatRule.findings(in: page, tests: tests) == [])
    }

    @Test("every promise has a test, every trait names a promise, and the page of their tests is up to date")
    func promises() throws {
        let matrix = PromiseMatrix(
            page: try Repository.text(of: PromiseMatrix.page),
            files: Repository.swiftFiles(
                in: "Tests/UnitTests",
                "Tests/TrackerTests",
                "Tests/HTTPTests",
                "Tests/EndToEndTests"
            )
        )
        #expect(matrix.promises.count > 30)
        #expect(matrix.findings == [])
        // Set by scripts/promises.sh.
        if ProcessInfo.processInfo.environment["SLUICE_WRITE_PROMISES"] != nil {
            let page = Repository.root.appendingPathComponent(PromiseMatrix.pageOfTests)
            try matrix.text.write(to: page, atomically: true, encoding: .utf8)
        }
        let isUpToDate = try Repository.text(of: PromiseMatrix.pageOfTests) == matrix.text
        #expect(isUpToDate, "run scripts/promises.sh")
    }

    @Test("a promise without a test, an unknown promise and a misplaced trait are found")
    func wrongPromises() {
        let page = """
            | promise | when | then |
            |---|---|---|
            | `shown` | a | b |
            | `not-shown` | a | b |
            | `shown` | a | b |
            | without an identifier | a | b |

            """
        let text = """
            @Suite("A") struct ATests {
                @Test("shows it", .promise("shown"))
                func shows() {}

                @Test(
                    "shows too much",
                    .promise("shown", "unknown"),
                    arguments: [1]
                )
                func unknown(number: Int) {}

                @Test("is misplaced", .timeLimit(.minutes(1)), .promise("not-shown"))
                func misplaced() {}
            }

            """
        let matrix = PromiseMatrix(page: page, files: [TextFile(path: "Tests/A/ATests.swift", text: text)])
        let findings = [
            "Documentation/Trust/Promises.md:6: a promise has no identifier in its first column",
            "Documentation/Trust/Promises.md:0: 'shown' is there twice",
            "Documentation/Trust/Promises.md:0: no test has the trait .promise(\"not-shown\")",
            "Tests/A/ATests.swift:5: Documentation/Trust/Promises.md has no promise 'unknown'",
            "Tests/A/ATests.swift:0: write .promise directly after the test's name",
        ]
        #expect(matrix.findings.map(\.description) == findings)
        #expect(
            matrix.text.contains("\n## shown\n\n- A/ATests.swift: \"shows it\", \"shows too much\"\n\n## not-shown\n\n")
        )
    }
}
