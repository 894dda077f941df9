import Foundation
import Testing

/// What README tells its reader to type.
@Suite("README", .timeLimit(.minutes(3)))
struct ReadmeTests {
    @Test("every sluice command in README is understood")
    func commands() async throws {
        let commands = Self.shellLines(of: try MarkdownPage(path: "README.md")).filter { $0.hasPrefix("sluice ") }
        #expect(commands.count >= 3)
        let folder = try TestFolder()
        for command in commands {
            let words = command.split(separator: " ").dropFirst().map(String.init)
            // Understood, each gets as far as to look for its plan or folder, and ends with 1; wrong usage would be 64.
            let isTool = words.first == "quarantine"
            let run = try await Sluice.run(words + [isTool ? "--quarantine" : "--events", "nowhere"], in: folder)
            #expect(run.ending == .exit(1), "\(command)")
            let message = isTool ? "'nowhere' cannot be read" : "nowhere:1:1: error: there is no such file"
            // A check prints what it finds as its result.
            let said = words.first == "check" ? run.output.joined(separator: "\n") : run.errors.first
            let wanted = words.first == "check" ? "nowhere:1:1: there is no such file" : message
            #expect(said?.contains(wanted) == true, "\(command)")
        }
    }

    /// The lines of the blocks of commands, without comments.
    private static func shellLines(of page: MarkdownPage) -> [String] {
        page.texts("sh").flatMap { $0.split(separator: "\n") }.map { line in
            line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
        }
    }
}
