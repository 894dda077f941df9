import EventPipeline
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// The version, and what the documentation and the image say about installing and stopping Sluice.
@Suite("A release")
struct ReleaseTests {
    private static func version() async throws -> String {
        let run = try await Sluice.run("--version", in: try TestFolder())
        #expect(run.ending == .exit(0))
        return try #require(run.output.first)
    }

    private static func text(_ path: String) throws -> String {
        try RepositoryFile.text(path)
    }

    @Test("--version is the version of the changelog's latest heading, or the coming version if that is unreleased")
    func version() async throws {
        let version = try await Self.version()
        let headings = try Self.text("CHANGELOG.md").matches(of: /\n## (\S+)/).map { String($0.1) }
        let released = headings.first { $0 != "Unreleased" }
        #expect(version.wholeMatch(of: /\d+\.\d+\.\d+(-dev)?/) != nil)
        #expect(version.hasSuffix("-dev") == (headings.first == "Unreleased"))
        #expect(version.hasSuffix("-dev") ? version != released : version == released)
    }

    @Test(
        "the documentation shows a dependency on the branch until there is a release, and on the release from then on",
        arguments: [
            "README.md", "Documentation/Build/MigratingFromJustTrack.md", "Tests/Tutorial/Package.swift",
            "Sources/Sluice/Sluice.docc/FromAnEmptyFolder.md", "Examples/custom-tracker/Package.swift",
            "Examples/hummingbird-app/Package.swift",
        ]
    )
    func dependency(path: String) async throws {
        let version = try await Self.version()
        let wanted = version.hasSuffix("-dev") ? #"branch: "main""# : #"from: "\#(version)""#
        let shown = try Self.text(path).matches(of: /\.package\(url: "…\/sluice", ([^)]*)\)/).map { String($0.1) }
        #expect(!shown.isEmpty)
        #expect(shown.allSatisfy { $0 == wanted })
    }

    @Test("docker compose waits longer than the server's longest shutdown", .promise("orderly-shutdown"))
    func stopGracePeriod() throws {
        let compose = try Self.text("docker-compose.yml")
        let text = try #require(compose.firstMatch(of: /\n {4}stop_grace_period: (\d+)s\n/)?.1)
        let grace = Duration.seconds(try #require(Int(text)))
        let pipeline = Pipeline.Configuration()
        // The limits for the queues, for trackers that ignore cancellation, and for the disks of the journal and the quarantine.
        #expect(pipeline.longestShutdown == .seconds(30 + 5 + 5 + 5))
        // The limit for connections, and the second after which the server ends itself.
        #expect(grace > IngestConfiguration().drainTimeout + pipeline.longestShutdown + .seconds(1))
    }
}
