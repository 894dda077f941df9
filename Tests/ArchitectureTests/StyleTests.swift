import Testing

/// Checks every file of the project against the style guide.
@Suite struct StyleTests {
    private static let swift = Repository.swiftFiles(
        in: "Sources",
        "migrations",
        "Plugins",
        "Tests",
        "Benchmarks",
        "Examples",
        "Fuzz"
    )
    private static let swiftWithCode = swift.map { ($0, SwiftCode.lines(of: $0.text)) }

    @Test("the repository was found")
    func findsFiles() {
        #expect(Repository.files.contains { $0.path == "Package.swift" })
        #expect(Self.swift.contains { $0.path.hasPrefix("Sources/EventModel/") })
    }

    @Test("modules import only what their targets depend on")
    func imports() throws {
        let manifest = Manifest(try Repository.text(of: "Package.swift"))
        expectNone(
            Repository.swiftFiles(in: "Sources", "migrations").flatMap {
                ImportRule.findings(in: $0, manifest: manifest)
            }
        )
    }

    @Test("every target imports everything that it depends on")
    func unusedDependencies() throws {
        var used: [String: Set<String>] = [:]
        for file in Repository.swiftFiles(in: "Sources", "migrations") {
            guard let module = file.module else { continue }
            used[module, default: []].formUnion(ImportRule.imports(of: file).map(\.name))
        }
        let manifest = Manifest(try Repository.text(of: "Package.swift"))
        for (module, imports) in used {
            let dependencies = try #require(manifest.dependencies[module], "\(module) is no target")
            #expect(dependencies.subtracting(imports) == [], "\(module)")
        }
    }

    @Test("the table of modules in ARCHITECTURE.md has every module once")
    func moduleTable() throws {
        let text = try Repository.text(of: "ARCHITECTURE.md")
        let section = try #require(text.split(separator: "\n## ").first { $0.hasPrefix("Modules\n") })
        let rows = section.matches(of: /\n\| `([\w-]+)` \| [^|\n]+ \|/).map { String($0.1) }
        let modules = Repository.swiftFiles(in: "Sources", "migrations").compactMap(\.module)
        #expect(rows.sorted() == Set(modules).sorted())
    }

    @Test("no code makes a banned call", arguments: BannedCallRule.all)
    func bannedCalls(rule: BannedCallRule) {
        expectNone(Self.swiftWithCode.flatMap { rule.findings(in: $0, code: $1) })
    }

    @Test("no code sleeps")
    func sleeping() {
        expectNone(Self.swift.flatMap(SleepRule.findings))
    }

    @Test("every unsafe declaration has a comment that says why it is safe")
    func unsafeReasons() {
        expectNone(Self.swiftWithCode.flatMap(UnsafeRule.findings))
    }

    @Test("every unstructured task has a comment that says why it is one")
    func looseTasks() {
        expectNone(Self.swiftWithCode.flatMap(LooseTaskRule.findings))
    }

    @Test("no message of the log contains a value")
    func logMessages() {
        expectNone(Self.swift.flatMap(LogMessageRule.findings))
    }

    @Test("no package declaration is marked as inlinable")
    func inlinable() {
        expectNone(Self.swiftWithCode.flatMap(InlinableRule.findings))
    }

    @Test("files and functions do not exceed their maximum lengths")
    func sizes() {
        expectNone(Self.swiftWithCode.flatMap(SizeRule.findings))
        let warnings = Self.swift.flatMap(SizeRule.warnings)
        if !warnings.isEmpty { Issue.record(Comment(rawValue: lines(warnings)), severity: .warning) }
    }

    @Test("files, folders and types have meaningful names")
    func names() {
        expectNone(Self.swiftWithCode.flatMap(NameRule.findings))
    }

    @Test("no file contains a path that exists only on one machine")
    func machinePaths() {
        expectNone(Repository.files.flatMap(MachinePathRule.findings))
    }

    @Test("scripts stop at the first error")
    func scripts() {
        #expect(Repository.files.contains(where: ScriptRule.isScript))
        expectNone(Repository.files.flatMap(ScriptRule.findings))
    }

    private func expectNone(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(findings.isEmpty, Comment(rawValue: lines(findings)), sourceLocation: sourceLocation)
    }

    private func lines(_ findings: [Finding]) -> String {
        findings.map(\.description).joined(separator: "\n")
    }
}
