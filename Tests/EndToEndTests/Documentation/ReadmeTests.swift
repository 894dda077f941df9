import Foundation
import ServerTestSupport
import Testing

/// The commands, plans and manifests in README and the migration guide.
@Suite("README", .timeLimit(.minutes(5)))
struct ReadmeTests {
    @Test("every sluice command in README is valid")
    func commands() async throws {
        let commands = Self.shellLines(of: try MarkdownPage(path: "README.md")).filter { $0.hasPrefix("sluice ") }
        #expect(commands.count >= 3)
        let folder = try TestFolder()
        for command in commands {
            let words = command.split(separator: " ").dropFirst().map(String.init)
            // A valid command fails with 1, because its plan or folder does not exist; wrong usage exits with 64.
            let isTool = words.first == "quarantine"
            let run = try await Sluice.run(words + [isTool ? "--quarantine" : "--events", "nowhere"], in: folder)
            #expect(run.ending == .exit(1), "\(command)")
            let message = isTool ? "'nowhere' cannot be read" : "nowhere:1:1: error: there is no such file"
            // A check prints problems on standard output.
            let said = words.first == "check" ? run.output.joined(separator: "\n") : run.errors.first
            let wanted = words.first == "check" ? "nowhere:1:1: there is no such file" : message
            #expect(said?.contains(wanted) == true, "\(command)")
        }
    }

    @Test("README's plan is the one that its Swift is compiled with")
    func plan() throws {
        let shown = try MarkdownPage(path: "README.md").texts("xml")
        #expect(shown == [try RepositoryFile.text("Tests/Readme/events.plist")])
    }

    @Test("README shows the actual answer to an invalid event")
    func answer() async throws {
        let block = try #require(MarkdownPage(path: "README.md").blocks.first { $0.text.hasPrefix("$ curl") }).text
        let parts = try #require(try /--json '([^']+)'\n(.+)/.dotMatchesNewlines().firstMatch(in: block))
        let folder = try TestFolder()
        try FileManager.default.createSymbolicLink(
            at: folder.url.appending(path: "events"),
            withDestinationURL: RepositoryFile.url("events")
        )
        let server = try await ServingSluice.start("--no-journal", in: folder, plan: "events")
        let response = try await server.post(String(parts.output.1))
        #expect(response.status == 422)
        #expect(try Self.json(response.body) == Self.json(String(parts.output.2)))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "the manifest parts in README and the migration guide form a valid manifest, and name products that exist",
        arguments: ["README.md", "Documentation/Build/MigratingFromJustTrack.md"]
    )
    func manifest(path: String) async throws {
        let block = try #require(MarkdownPage(path: path).texts("swift").first)
        let package = #".package(url: "…/sluice", from: "0.1.0")"#
        let page = try RepositoryFile.text(path)
        #expect(page.contains(package))
        let parts = block.contains("targets:") ? block : "dependencies: [\(package)], targets: [\(block)]"
        let folder = try TestFolder()
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(name: "reader", platforms: [.macOS(.v15)], \(parts))
            """
        try folder.write(manifest, to: "Package.swift")
        let dump = try await Command.run("swift", ["package", "--package-path", folder.url.path, "dump-package"])
        #expect(dump.status == 0, "\(dump.text)")
        let own = try RepositoryFile.text("Package.swift")
        let asked = block.matches(of: /(?:product|plugin)\(name: ("\w+"), package: "sluice"\)/)
        #expect(!asked.isEmpty)
        for match in asked { #expect(own.contains("(name: \(match.1), targets: ["), "\(match.1)") }
    }

    private static func json(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    /// The lines of the blocks of commands, without comments.
    private static func shellLines(of page: MarkdownPage) -> [String] {
        page.texts("sh").flatMap { $0.split(separator: "\n") }.map { line in
            line.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces)
        }
    }
}
