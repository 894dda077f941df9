import Foundation
import Testing

/// What the documents tell their reader to type exists.
@Suite struct DocumentationTests {
    @Test(
        "every command in the documents exists",
        arguments: [
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "PROMISES.md", "API-stability.md",
            "Documentation/HTTP.md", "Documentation/Library.md", "Documentation/MigratingFromJustTrack.md",
            "Documentation/Operations.md", "Documentation/TrackingPlan.md",
            "Sources/Sluice/Sluice.docc/FromAnEmptyFolder.md",
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
        let libraries = try Repository.text(of: "Package.swift").split(separator: "The products before version 0.1")[0]
            .matches(of: /\.library\(name: "(\w+)"/).map(\.1)
        #expect(libraries.count >= 7)
        for name in libraries {
            let page = try Repository.text(of: "Sources/\(name)/\(name).docc/\(name).md")
            #expect(page.hasPrefix("# ``\(name)``\n") && page.contains("\n## Topics\n"), "\(name)")
        }
    }

    @Test("every link of the documents to a file leads to one")
    func links() {
        let documents = Repository.files.filter { $0.path.hasSuffix(".md") && !$0.path.contains(".docc/") }
        #expect(documents.count >= 10)
        for document in documents {
            let folder = Repository.root.appendingPathComponent(document.path).deletingLastPathComponent()
            for match in document.text.matches(of: /\]\(([^)#\s]+)(?:#[^)]*)?\)/) where !match.1.contains("://") {
                let exists = FileManager.default.fileExists(atPath: folder.appendingPathComponent(String(match.1)).path)
                #expect(exists, "\(document.path) links to \(match.1)")
            }
        }
    }

    @Test("the page of commands is what the commands say of themselves")
    func commandReference() throws {
        let page = try Repository.text(of: "Documentation/Commands.md")
        let blocks = page.split(separator: "\n## sluice ").dropFirst()
        let shown = Dictionary(
            uniqueKeysWithValues: blocks.map { block in
                let parts = block.split(separator: "\n\n```\n", maxSplits: 1)
                return (String(parts[0]), parts[1].split(separator: "\n```")[0])
            }
        )
        var commands: [[String]] = [[]]
        var names: Set<String> = []
        while let command = commands.popLast() {
            let help = try SluiceProgram.output(command + ["--help"])
            for subcommand in CommandRule.subcommands(ofHelp: help) where subcommand != "help" {
                commands.append(command + [subcommand])
            }
            guard !command.isEmpty else { continue }
            let name = command.joined(separator: " ")
            names.insert(name)
            let page = try #require(shown[name], "\(name) is missing; run scripts/command-reference.sh")
            #expect(Self.words(of: page) == Self.words(of: help), "\(name): run scripts/command-reference.sh")
        }
        #expect(Set(shown.keys) == names)
    }

    /// The words, however wide the lines are.
    private static func words(of text: some StringProtocol) -> [String] {
        text.split { $0.isWhitespace }.map { String($0) }
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
