import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// Runs the tutorial's commands, with a PostgreSQL that the test starts.
@Suite("the tutorial", .timeLimit(.minutes(5)))
struct TutorialTests {
    private let page: MarkdownPage

    init() throws {
        page = try MarkdownPage(path: "Sources/Sluice/Sluice.docc/FromAnEmptyFolder.md")
    }

    /// The files that the tutorial tells its reader to write, in order.
    private static let files = ["Package.swift", "Sources/Shop/events.plist", "Sources/Shop/Shop.swift"]

    @Test("the files in the tutorial equal the files that are compiled")
    func files() throws {
        let shown = page.blocks.filter { ["swift", "xml"].contains($0.language) }.map(\.text)
        try #require(shown.count == Self.files.count)
        for (name, text) in zip(Self.files, shown) {
            let file = try RepositoryFile.text("Tests/Tutorial/\(name)")
            #expect(text == file, "\(name)")
        }
    }

    @Test("the tutorial's manifest is valid, and names products that exist")
    func manifest() async throws {
        let folder = RepositoryFile.url("Tests/Tutorial").path
        let scratch = try TestFolder()
        let options = ["--package-path", folder, "--scratch-path", scratch.url.path]
        let dump = try await Command.run("swift", ["package"] + options + ["dump-package"])
        #expect(dump.status == 0)
        let own = try RepositoryFile.text("Package.swift")
        let asked = page.texts("swift")[0].matches(of: /(?:product|plugin)\(name: ("\w+"), package: "sluice"\)/)
        #expect(asked.count == 3)
        for match in asked {
            #expect(own.contains("(name: \(match.1), targets: ["), "\(match.1)")
            #expect(dump.text.contains(match.1), "\(match.1)")
        }
    }

    @Test("the tutorial's commands and query have the output that the page shows")
    func typed() async throws {
        let folder = try TestFolder()
        let server = try await PrivatePostgres.shared()
        let steps = steps()
        #expect(steps.count == 5)
        let script = try folder.write(try preamble(port: server.port) + steps.map(\.script).joined(), to: "type.sh")
        let run = try await Command.run("bash", [script])
        #expect(run.status == 0, "\(run.text)")
        let printed = run.text.components(separatedBy: Self.mark + "\n").dropFirst().map(Self.comparable)
        try #require(printed.count == steps.count, "\(run.text)")
        for (step, printed) in zip(steps, printed) {
            #expect(printed == Self.comparable(step.output), "\(step.script)")
        }
    }

    /// A block of commands, with the files that it needs and the expected output.
    private struct Step {
        var script: String
        var output = ""
    }

    private func steps() -> [Step] {
        var steps: [Step] = []
        var files = Self.files[...]
        for block in page.blocks {
            switch block.language {
            case "sh": steps.append(Step(script: "echo '\(Self.mark)'\n" + block.text))
            // The lines after a command that reads input are its input.
            case "sql": steps[steps.count - 1].script.replace(/\n$/, with: " <<'END'\n\(block.text)END\n")
            case "": steps[steps.count - 1].output += block.text
            default:
                let file = files.popFirst() ?? "a-file-without-a-name"
                steps[steps.count - 1].script += "cat >\(file) <<'END'\n\(block.text)END\n"
            }
        }
        return steps
    }

    /// The environment: a `swift run` that runs the built programs, and a PostgreSQL.
    private func preamble(port: Int) throws -> String {
        let programs = try SluiceProcess.executable().deletingLastPathComponent().path
        return """
            set -euo pipefail
            exec 2>&1
            cd "$(dirname "$0")"
            unset DATABASE_URL ${!SLUICE_@} ${!PG@}
            export PGHOST=127.0.0.1 PGPORT=\(port) PGUSER=postgres
            swift() {
                local program=$2
                shift 2
                if [[ $program == Shop ]]; then program=TutorialShop; fi
                '\(programs)'/"$program" "$@"
            }

            """
    }

    private static let mark = "-- next --"

    /// The text without the parts that differ between runs: times, the log, and psql's padding.
    private static func comparable(_ text: String) -> [String] {
        text.split(separator: "\n").map {
            String($0).replacing(/^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d{4})/, with: "TIME")
        }
        .filter { !$0.hasPrefix("TIME info ") }.map { $0.replacing(/\s+$/, with: "") }
    }
}
