import Foundation
import Testing

/// What README tells its reader to type.
@Suite("README", .timeLimit(.minutes(3)))
struct ReadmeTests {
    @Test("every sluice command in README is understood")
    func commands() async throws {
        let text = try String(contentsOf: RepositoryFile.url("README.md"), encoding: .utf8)
        let commands = Self.shellLines(of: text).filter { $0.hasPrefix("sluice ") }
        #expect(commands.count >= 3)
        let folder = try TestFolder()
        for command in commands {
            let words = command.split(separator: " ").dropFirst().map(String.init)
            // Understood, each gets as far as to look for its plan or folder, and ends with 1; wrong usage would be 64.
            let isTool = words.first == "quarantine"
            let run = try await Sluice.run(words + [isTool ? "--quarantine" : "--events", "nowhere"], in: folder)
            #expect(run.ending == .exit(1), "\(command)")
            let message = isTool ? "'nowhere' cannot be read" : "nowhere:1:1: error: there is no such file"
            #expect(run.errors.first?.contains(message) == true, "\(command)")
        }
    }

    /// The lines of the blocks that begin with three backticks and `sh`, without comments.
    private static func shellLines(of text: String) -> [String] {
        var isInBlock = false
        var lines: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("```") {
                isInBlock = line == "```sh"
            } else if isInBlock {
                let command = line.prefix { $0 != "#" }
                lines.append(String(command).trimmingCharacters(in: .whitespaces))
            }
        }
        return lines
    }
}
