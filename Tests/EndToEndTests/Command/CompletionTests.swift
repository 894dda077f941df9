import Foundation
import ServerTestSupport
import Testing

/// The completion scripts for shells.
@Suite("sluice completions", .timeLimit(.minutes(5)))
struct CompletionTests {
    @Test("completions prints a script for every supported shell", arguments: ["bash", "zsh", "fish"])
    func scripts(shell: String) async throws {
        let run = try await Sluice.run("completions", shell, in: try TestFolder())
        #expect(run.ending == .exit(0) && run.errors == [])
        for command in ["serve", "replay", "new-event", "coverage"] {
            #expect(run.output.contains { $0.contains(command) }, "\(command)")
        }
    }

    @Test("completions for an unknown shell is wrong usage")
    func unknown() async throws {
        #expect(try await Sluice.run("completions", "tcsh", in: try TestFolder()).ending == .exit(64))
    }

    @Test(
        "in every command, options for files and folders complete the names of files and folders",
        arguments: [
            "sluice export html --events", "sluice export html --config", "sluice export html --output",
            "sluice export json-schema --output", "sluice export sql --migrations", "sluice migrate --migrations",
            "sluice migrate --events", "sluice lint --events", "sluice lint --config", "sluice serve --events",
        ]
    )
    func files(line: String) async throws {
        let folder = try TestFolder()
        try folder.write("", to: "shop/file")
        #expect(try await completions(of: line + " sh", in: folder) == ["shop"])
    }

    @Test(
        "bash completes commands and options",
        arguments: [
            ("sluice rep", "replay"), ("sluice new", "new-event"), ("sluice quarantine st", "stats"),
            ("sluice diff --allow-b", "--allow-breaking"), ("sluice migrate --plan", "--plan-only"),
        ]
    )
    func bash(line: String, completion: String) async throws {
        #expect(try await completions(of: line, in: try TestFolder()) == [completion])
    }

    /// The completions that bash offers for the last word of a line.
    private func completions(of line: String, in folder: TestFolder) async throws -> [String] {
        let script = try await Sluice.run("completions", "bash", in: folder).output.joined(separator: "\n")
        let path = try folder.write(script, to: "sluice.bash")
        let words = line.split(separator: " ").map(String.init)
        // Bash calls the function with the command, the word, and the word before it.
        let program = """
            set -e
            cd '\(folder.url.path)'
            source '\(path)'
            COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); COMP_LINE='\(line)'; COMP_POINT=\(line.count)
            function=$(complete -p sluice | sed 's/.*-F \\([^ ]*\\).*/\\1/')
            set +e
            "$function" sluice '\(words[words.count - 1])' '\(words[words.count - 2])'
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let answer = try await Command.run("bash", ["--norc", "-c", program])
        return answer.text.split(separator: "\n").map(String.init)
    }
}
