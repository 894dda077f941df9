import Foundation
import ServerTestSupport
import Testing

/// `sluice diff`, between folders and revisions.
@Suite("sluice diff", .timeLimit(.minutes(5)))
struct DiffTests {
    /// A folder with a repository, in which `events/shop.plist` was committed.
    private static func repository() async throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        try await git(folder, "init", "-q", "-b", "main")
        try await git(folder, "add", ".")
        try await git(folder, "commit", "-q", "-m", "one")
        return folder
    }

    @discardableResult
    private static func git(_ folder: TestFolder, _ arguments: String...) async throws -> String {
        let identity = ["-C", folder.url.path, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        let result = try await Command.run("git", identity + arguments)
        #expect(result.status == 0)
        return result.text
    }

    @Test("diff compares the working tree with a branch, and exits with 1 after a breaking change")
    func workingTree() async throws {
        let folder = try await Self.repository()
        let same = try await Sluice.run("diff", "main", in: folder)
        #expect(same.ending == .exit(0) && same.output == [] && same.errors == ["no changes"])

        try folder.write(Plans.shop(minimumQuantity: 2), to: "events/shop.plist")
        let run = try await Sluice.run("diff", "main", in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.output == [
                "events/shop.plist:11:17: breaking: 'Sold', quantity: 'minimum' changed from 1 to 2 [limit-tightened]",
                "     Swift callers  risky       calls compile, but `track` throws for values that are no longer allowed",
                "     HTTP senders   breaking    values that were valid are rejected with `out-of-range`",
                "     SQL            compatible  no table has rows of the event",
                "     Kafka readers  compatible  nobody reads the event's lines",
            ]
        )
        #expect(run.errors == ["1 change: 1 breaking"])
        // The reverse change is compatible, and options allow this one.
        #expect(try await Sluice.run("diff", "events", "main", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("diff", "main", "--allow-breaking", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("diff", "main", "--allow", "http", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("diff", "main", "--allow", "sql", in: folder).ending == .exit(1))
    }

    @Test("diff accepts a revision, a path in a revision, a file and a folder, in any folder of the repository")
    func places() async throws {
        let folder = try await Self.repository()
        try folder.write(Plans.shop(minimumQuantity: 2), to: "plans/new.plist")
        try folder.write("no plist", to: "plans/.hidden.plist")
        try folder.write("no plan", to: "plans/notes.txt")
        try await Self.git(folder, "add", "-f", ".")
        try await Self.git(folder, "commit", "-q", "-m", "two")
        try FileManager.default.removeItem(atPath: folder.path("plans"))
        for line in [
            "main~1 main:plans", "main:events main:plans/new.plist", "HEAD:./events HEAD:plans/", "events main:plans",
            "events/shop.plist main:plans", "main main:plans --events \(folder.path("events"))",
        ] {
            let run = try await Sluice.run(["diff"] + line.split(separator: " ").map(String.init), in: folder)
            #expect(run.ending == .exit(1), "\(line)")
            #expect(run.output.first?.contains("'minimum' changed from 1 to 2") == true, "\(line): \(run.errors)")
        }
        let removed = try await Sluice.run("diff", "main:plans", "main", in: folder)
        #expect(removed.output.first?.hasPrefix("main:events/shop.plist:11:17: compatible: ") == true)
        let inner = try TestFolder.inside(folder, "plans")
        let run = try await Sluice.run("diff", "main", "main:plans", "--events", "../events", in: inner)
        #expect(run.errors == ["1 change: 1 breaking"])
    }

    @Test("diff reports a plan that cannot be read, and exits with 2")
    func trouble() async throws {
        let folder = try await Self.repository()
        try folder.write(Plans.broken, to: "broken/shop.plist")
        try folder.write("", to: "empty/none.txt")
        try folder.write("", to: "inner/none.txt")
        for link in ["link", "inner/link"] {
            let target = link == "link" ? "events" : "../events"
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
        }
        try await Self.git(folder, "add", ".")
        try await Self.git(folder, "commit", "-q", "-m", "two")
        for (line, sentence) in [
            ("nowhere", "error: 'nowhere' is neither a file nor a folder, nor a revision known to Git"),
            ("main:nowhere", "error: 'nowhere' does not exist in the revision 'main'"),
            ("main --output=x", "Unknown option"),
            ("main:empty", "error: main:empty: this folder has no *.plist file"),
            ("main:broken", "main:broken/shop.plist:9:49: error: unknown tracker 'konsole'; did you mean 'console'?"),
            (
                "main --events nowhere",
                "error: './nowhere' does not exist in the revision 'main'; if the plan was in another folder then, name "
                    + "it as main:PATH; if there was no plan yet, there is nothing to compare"
            ),
            ("main:./", "this folder has no *.plist file"),
            ("main --events link", "error: main:link is a link; name its target as main:PATH"),
            ("main:link/ events", "error: main:link is a link; name its target as main:PATH"),
            ("main:inner/link events", "error: main:inner/link is a link; name its target as main:PATH"),
            ("main --events /", "is not in the repository"),
            ("broken", "broken/shop.plist:9:49: error: unknown tracker 'konsole'"),
        ] {
            let run = try await Sluice.run(["diff"] + line.split(separator: " ").map(String.init), in: folder)
            #expect(run.ending == .exit(line.contains("output") ? 64 : 2), "\(line)")
            #expect(run.output == [])
            #expect(run.errors.joined(separator: "\n").contains(sentence), "\(line): \(run.errors)")
        }
        let outside = try await Sluice.run("diff", "main", in: try TestFolder())
        #expect(outside.ending == .exit(2))
        #expect(outside.errors.first?.contains("not a revision: not a git repository") == true)
        let gitless = try await Sluice.run("diff", "main", in: folder, environment: ["PATH": "/nowhere"])
        #expect(gitless.ending == .exit(2))
        #expect(gitless.errors.first?.contains("reading a revision needs Git") == true)
    }

    @Test("diff --format markdown prints a comment in which the plan's texts are escaped")
    func markdown() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "old/shop.plist")
        let name = "@team #1 | &lt;b> `x` [a](b) https://example.org *y*"
        let renamed = Plans.shop(minimumQuantity: 1).replacingOccurrences(
            of: "<key>Sold</key>",
            with: "<key>\(name)</key>"
        )
        try folder.write(renamed, to: "new/shop.plist")
        let run = try await Sluice.run("diff", "old", "new", "--format", "markdown", in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.output.first == "### Tracking plan: 2 changes: 1 breaking, 1 compatible")
        #expect(
            run.output.contains(
                "  - Swift callers: **breaking**: the type is removed: code that uses it does not compile"
            )
        )
        let escaped = #"&#64;team &#35;1 \| &#60;b&#62; \`x\` \[a\]\(b\) https&#58;&#47;&#47;example&#46;org \*y\*"#
        #expect(run.output.contains { $0.hasPrefix("- **\(escaped)** · the event was added") })
        let hint = "'\(escaped)', which is new, has the same properties"
        #expect(run.output.contains("- **Sold** · the event was removed; \(hint) (old&#47;shop&#46;plist&#58;6)"))
        #expect(run.output.filter { $0.contains("details>") }.count == 2)
        let same = try await Sluice.run("diff", "old", "old", "--format", "markdown", in: folder)
        #expect(same.output == ["### Tracking plan: no changes"])
    }

    @Test("diff --format markdown limits the length of the comment")
    func longMarkdown() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "old/shop.plist")
        let events = (0..<600).map {
            "<key>E\($0)</key><dict><key>registeredTrackers</key><array><string>a</string></array></dict>"
        }
        try folder.write(
            "<plist><dict><key>events</key><dict>\(events.joined())</dict></dict></plist>",
            to: "new/a.plist"
        )
        let run = try await Sluice.run("diff", "old", "new", "--format", "markdown", in: folder)
        let text = run.output.joined(separator: "\n")
        #expect(text.utf8.count < 65_536)
        #expect(run.output.last?.hasSuffix("more, which exceed the length of a comment; see `sluice diff`.") == true)
        #expect(run.output.contains("- **Sold** · the event was removed (old&#47;shop&#46;plist&#58;6)"))
    }

    @Test("diff --format json prints the changes as an object")
    func json() async throws {
        struct Report: Decodable {
            struct Meaning: Decodable, Equatable {
                let compatibility: String
                let reason: String
            }
            struct Change: Decodable {
                let kind: String
                let compatibility: String
                let event: String?
                let property: String?
                let path: String?
                let line: Int?
                let impacts: [String: Meaning]
            }
            let breaking: Int
            let risky: Int
            let compatible: Int
            let changes: [Change]
        }
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "old/shop.plist")
        let more = "<key>colour</key><dict><key>type</key><string>string</string><key>required</key><false/></dict>"
        try folder.write(Plans.shop(minimumQuantity: 1, additionally: more), to: "new/shop.plist")
        let run = try await Sluice.run("diff", "old", "new", "--format", "json", in: folder)
        #expect(run.ending == .exit(0))
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.joined(separator: "\n").utf8))
        #expect(report.breaking == 0 && report.risky == 0 && report.compatible == 1)
        let change = try #require(report.changes.first)
        #expect(change.kind == "optional-property-added" && change.compatibility == "compatible")
        #expect(change.event == "Sold" && change.property == "colour")
        #expect(change.path == "new/shop.plist" && change.line == 18)
        #expect(Set(change.impacts.keys) == ["swift", "http", "sql", "kafka"])
        #expect(change.impacts["http"] == Report.Meaning(compatibility: "compatible", reason: "it can be absent"))
    }
}
