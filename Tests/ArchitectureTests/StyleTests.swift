import Testing

/// The style guide, held against every file of the project.
@Suite struct StyleTests {
    private static let swift = Repository.swiftFiles(
        in: "Sources",
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

    @Test("modules import what the design lets them import")
    func imports() {
        expectNone(Repository.swiftFiles(in: "Sources").flatMap(ImportRule.findings))
    }

    @Test("nobody makes a banned call", arguments: BannedCallRule.all)
    func bannedCalls(rule: BannedCallRule) {
        expectNone(Self.swiftWithCode.flatMap { rule.findings(in: $0, code: $1) })
    }

    @Test("whatever is unsafe has its reason beside it")
    func unsafeReasons() {
        expectNone(Self.swiftWithCode.flatMap(UnsafeRule.findings))
    }

    @Test("no task is loose without a reason")
    func looseTasks() {
        expectNone(Self.swiftWithCode.flatMap(LooseTaskRule.findings))
    }

    @Test("files and functions are short")
    func sizes() {
        expectNone(Self.swiftWithCode.flatMap(SizeRule.findings))
    }

    @Test("names say what a thing is")
    func names() {
        expectNone(Self.swiftWithCode.flatMap(NameRule.findings))
    }

    @Test("no file knows the machine it was written on")
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
