import Foundation
import ServerTestSupport
import Testing

/// Journals that earlier versions wrote: what they hold is what an upgrade must not lose.
@Suite("The journals of earlier versions", .timeLimit(.minutes(5)))
struct JournalCorpusTests {
    private static let versions = ["0.1"]

    private func copy(_ version: String) throws -> TestFolder {
        let folder = try TestFolder()
        let source = RepositoryFile.url("Tests/Journals/\(version)")
        for name in ["journal", "shop.plist"] {
            try FileManager.default.copyItem(at: source.appending(path: name), to: folder.url.appending(path: name))
        }
        return folder
    }

    @Test("are all tested")
    func complete() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: RepositoryFile.url("Tests/Journals").path)
        #expect(names.filter { $0 != "README.md" }.sorted() == Self.versions)
    }

    @Test("are intact, and hold the same events", arguments: versions)
    func events(version: String) async throws {
        let folder = try copy(version)
        #expect(try await Sluice.run("journal", "verify", "journal", in: folder).ending == .exit(0))
        let lines = try await Sluice.run("journal", "cat", "journal", in: folder).output
        let expected = try RepositoryFile.text("Tests/Journals/\(version)/events.ndjson").split(separator: "\n")
        #expect(lines == expected.map(String.init))
    }

    @Test("are continued: a tracker gets what it had not received, and new events follow", arguments: versions)
    func continued(version: String) async throws {
        let folder = try copy(version)
        let server = try await ServingSluice.start([], in: folder, plan: "shop.plist")
        // The cursor of the console is before the last event.
        let last = try await server.process.output?.line(containing: #""quantity":7"#)
        #expect(last != nil)
        #expect(server.process.output?.lines.count == 1)
        #expect(try await server.post(#"{"name":"Sold","payload":{"quantity":8}}"#).status == 200)
        _ = try await server.process.output?.line(containing: #""quantity":8"#)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let count = try await Sluice.run("journal", "cat", "journal", in: folder).output.count
        #expect(count == 8)
    }
}
