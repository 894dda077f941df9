import Foundation
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

    /// Made once, because each command's help is a process.
    private static let rule = Task {
        let help = try await Sluice.output(of: ["--help"])
        let subcommands = CommandRule.subcommands(ofHelp: help)
        try #require(subcommands.contains("serve"))
        return CommandRule(
            targets: CommandRule.targets(ofMakefile: try RepositoryFile.text("Makefile")),
            subcommands: subcommands,
            options: try await options(of: [])
        )
    }

    /// The options of a command, and of its subcommands.
    private static func options(of command: [String]) async throws -> Set<String> {
        let help = try await Sluice.output(of: command + ["--help"])
        var options = CommandRule.options(ofHelp: help)
        for subcommand in CommandRule.subcommands(ofHelp: help) where subcommand != "help" {
            options.formUnion(try await Self.options(of: command + [subcommand]))
        }
        return options
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
            "run scripts/command-reference.sh"
        )
        let shown = try await Sluice.output(of: ["config", "show"])
        let defaults = Dictionary(
            uniqueKeysWithValues: shown.matches(of: /(?m)^(\S+) {2,}(.+?) {2,}default$/).map { ("\($0.1)", "\($0.2)") }
        )
        let operations = try RepositoryFile.text("Documentation/Operate/Operations.md")
        let rows = operations.matches(of: /(?m)^\| `([\w.]+)` \| ([^|]+) \|/)
        #expect(rows.count >= 4)
        for row in rows {
            let gibibytes = row.2.wholeMatch(of: /(\d+) GiB/).flatMap { Int($0.1) }
            let value = gibibytes.map { "\($0 << 30)" } ?? String(row.2)
            #expect(defaults[String(row.1)] == value, "\(row.1)")
        }
    }

    @Test("the command reference lists every metric")
    func metrics() async throws {
        let output = try await Sluice.output(of: ["metrics"])
        let commands = try RepositoryFile.text("Documentation/Operate/Commands.md")
        #expect(commands.contains("\n\n\(output)\n"), "run scripts/command-reference.sh")
    }

    @Test("the command reference equals the help of every command")
    func commandReference() async throws {
        let page = try RepositoryFile.text("Documentation/Operate/Commands.md")
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
            let help = try await Sluice.output(of: command + ["--help"])
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

    /// The words of a text, regardless of its line breaks.
    private static func words(of text: some StringProtocol) -> [String] {
        text.split { $0.isWhitespace }.map { String($0) }
    }
}
