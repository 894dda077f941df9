import Foundation
import ServerTestSupport
import Testing

/// The commands that the documents show exist, and the command reference is up to date.
@Suite("the documentation's commands", .timeLimit(.minutes(5)))
struct CommandReferenceTests {
    @Test(
        "every command in the documents exists",
        arguments: [
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Benchmarks/README.md",
            "Documentation/Start/TrackingPlan.md",
            "Documentation/Send/HTTP.md", "Documentation/Operate/Operations.md", "Documentation/Build/Library.md",
            "Documentation/Build/Tracker.md", "Documentation/Build/MigratingFromJustTrack.md",
            "Documentation/Build/PlanChanges.md", "Documentation/Build/Decisions.md", "Documentation/Trust/Promises.md",
            "Sources/Sluice/Sluice.docc/FromAnEmptyFolder.md",
        ]
    )
    func commands(path: String) async throws {
        #expect(try await Self.rule.value.unknown(in: try RepositoryFile.text(path)) == [])
    }

    private static let rule = Task {
        let helps = try await everyHelp.value
        let subcommands = CommandRule.subcommands(ofHelp: helps["", default: ""])
        try #require(subcommands.contains("serve"))
        return CommandRule(
            targets: CommandRule.targets(ofMakefile: try RepositoryFile.text("Makefile")),
            subcommands: subcommands,
            options: helps.values.reduce(into: Set<String>()) { $0.formUnion(CommandRule.options(ofHelp: $1)) }
        )
    }

    /// The help of every command, by its name after `sluice`; made once, because each is the output of a process.
    private static let everyHelp = Task { try await helps(of: []) }

    /// The help of a command, and of its subcommands.
    private static func helps(of command: [String]) async throws -> [String: String] {
        let help = try await Sluice.output(of: command + ["--help"])
        var helps = [command.joined(separator: " "): help]
        for subcommand in CommandRule.subcommands(ofHelp: help) where subcommand != "help" {
            helps.merge(try await Self.helps(of: command + [subcommand])) { $1 }
        }
        return helps
    }

    @Test("the rule finds a command that does not exist")
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
        let unknown = ["2: make gold", "3: make silver", "5: sluice swerve", "6: --glisten"]
        #expect(rule.unknown(in: text) == unknown)
    }

    @Test("the example of a configuration file is up to date, and the page on operations has the same defaults")
    func settings() async throws {
        let example = try RepositoryFile.text("deploy/sluice.example.yaml")
        #expect(
            try await Sluice.output(of: ["config", "example"]) + "\n" == example,
            "run scripts/command-reference.py"
        )
        let shown = try await Sluice.output(of: ["config", "show"])
        let defaults = Dictionary(
            uniqueKeysWithValues: shown.matches(of: /(?m)^(\S+) {2,}(.+?) {2,}default$/).map { ("\($0.1)", "\($0.2)") }
        )
        let operations = try RepositoryFile.text("Documentation/Operate/Operations.md")
        let rows = operations.matches(of: /(?m)^\| `([a-z]\w*\.[\w.]+)` \| ([^|]+) \|/)
        #expect(rows.count >= 4)
        for row in rows {
            let gibibytes = row.2.wholeMatch(of: /(\d+) GiB/).flatMap { Int($0.1) }
            let value = gibibytes.map { "\($0 << 30)" } ?? String(row.2)
            #expect(defaults[String(row.1)] == value, "\(row.1)")
        }
    }

    @Test("the command reference is up to date")
    func commandReference() async throws {
        let script = RepositoryFile.url("scripts/command-reference.py").path
        let process = try SluiceProcess(
            [script, "--print", try SluiceProcess.executable().path],
            executable: try ClientScript.program("python3"),
            in: TestFolder()
        )
        #expect(try await process.waitForEnd() == .exit(0), "\(process.errors.lines.suffix(5))")
        let printed = (process.output?.lines ?? []).joined(separator: "\n") + "\n"
        let page = try RepositoryFile.text("Documentation/Operate/Commands.md")
        #expect(printed == page, "run scripts/command-reference.py")
    }

    @Test("the command reference names every command and all its options")
    func options() async throws {
        let page = try RepositoryFile.text("Documentation/Operate/Commands.md")
        let sections = Dictionary(
            uniqueKeysWithValues: page.split(separator: "\n## sluice ").dropFirst().map { section in
                (String(section.prefix { $0 != "\n" }), String(section))
            }
        )
        for (name, help) in try await Self.everyHelp.value where !name.isEmpty {
            let section = try #require(sections[name], "\(name) is missing")
            // The page says once that every command has these.
            let named = CommandRule.options(ofHelp: section).union(["--version", "--help"])
            #expect(CommandRule.options(ofHelp: help).subtracting(named).sorted() == [], "\(name)")
        }
    }
}
