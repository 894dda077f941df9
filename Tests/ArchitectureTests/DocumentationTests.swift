import Testing

/// What the documents tell their reader to type exists.
@Suite struct DocumentationTests {
    @Test(
        "every command in the documents exists",
        arguments: [
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "PROMISES.md", "API-stability.md",
            "Documentation/MigratingFromJustTrack.md", "Sources/EventPipeline/EventPipeline.docc/FromAnEmptyFolder.md",
        ]
    )
    func commands(path: String) throws {
        let help = try SluiceProgram.output("--help")
        let subcommands = CommandRule.subcommands(ofHelp: help)
        try #require(subcommands.contains("serve"))
        let rule = CommandRule(
            targets: CommandRule.targets(ofMakefile: try Repository.text(of: "Makefile")),
            subcommands: subcommands,
            options: try subcommands.reduce(into: []) { options, subcommand in
                options.formUnion(try Self.options(of: [subcommand]))
            }
        )
        let findings = rule.findings(in: TextFile(path: path, text: try Repository.text(of: path)))
        #expect(findings.isEmpty, "\(findings)")
    }

    /// The options of a command, and of the commands that it has itself.
    private static func options(of command: [String]) throws -> Set<String> {
        let help = try SluiceProgram.output(command + ["--help"])
        return try CommandRule.subcommands(ofHelp: help).reduce(into: CommandRule.options(ofHelp: help)) {
            $0.formUnion(try options(of: command + [$1]))
        }
    }

    @Test("a command that does not exist is found")
    func unknownCommands() {
        let rule = CommandRule(targets: ["run"], subcommands: ["serve"], options: ["--listen"])
        let text = """
            make run
            make gold
            Type `make run`, or `make silver`; do not make haste.
            sluice serve --listen a
            sluice swerve
            the sluice opens, and --glisten is none
            curl --json a

            """
        let findings = rule.findings(in: TextFile(path: "README.md", text: text))
        #expect(findings.map(\.line) == [2, 3, 5, 6])
    }

    @Test("every module that others can import has a page, which `make docs` builds")
    func pages() throws {
        let libraries = try Repository.text(of: "Package.swift").matches(of: /\.library\(name: "(\w+)"/).map(\.1)
        #expect(libraries.count >= 10)
        for name in libraries {
            let page = try Repository.text(of: "Sources/\(name)/\(name).docc/\(name).md")
            #expect(page.hasPrefix("# ``\(name)``\n") && page.contains("\n## Topics\n"), "\(name)")
        }
    }

    @Test("every test that the page of promises names exists")
    func promises() throws {
        let tests = Repository.swiftFiles(in: "Tests").map(\.text).joined()
        let names = try Self.namesOfTests(in: Repository.text(of: "PROMISES.md"))
        #expect(names.count > 30)
        for name in names { #expect(tests.contains("\"\(name)\""), "no test is called \(name)") }
    }

    /// What stands in quotes in the last column of a table.
    private static func namesOfTests(in page: String) -> [Substring] {
        page.split(separator: "\n").filter { $0.hasPrefix("|") }.flatMap { row in
            (row.split(separator: "|").last ?? "").split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }
                .map(\.element)
        }
    }
}
