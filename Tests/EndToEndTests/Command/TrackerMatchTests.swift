import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// A plan and settings that name different trackers: each command that reads both says so.
@Suite("Trackers of a plan that are not those of the settings", .timeLimit(.minutes(5)))
struct TrackerMatchTests {
    private static let sold = #"{"name":"Sold","payload":{"quantity":1}}"#

    /// A plan with one event for this tracker.
    private func folder(tracker: String) throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(
            Plans.shop(minimumQuantity: 1).replacing("<string>console", with: "<string>\(tracker)"),
            to: "plan/shop.plist"
        )
        return folder
    }

    /// What each command says, standard output and standard error together.
    private struct Words {
        var lint: Finished
        var check: Finished
        var migrate: Finished
        var serve: [String]
        var status: Finished
    }

    private func run(_ tracker: String, in folder: TestFolder, _ database: TestDatabase) async throws -> Words {
        let plan = ["--events", "plan"]
        let destination = plan + ["--postgres", database.url]
        let lint = try await Sluice.run(["lint"] + plan, in: folder)
        let migrate = try await Sluice.run(["migrate"] + destination, in: folder)
        let check = try await Sluice.run(["check", "--timeout", "60"] + destination, in: folder)
        let server = try await ServingSluice.start(["--postgres", database.url], in: folder, plan: "plan")
        #expect(try await server.post(Self.sold).status == 200)
        let status = try await Sluice.run("status", in: folder)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        return Words(lint: lint, check: check, migrate: migrate, serve: server.process.errors.lines, status: status)
    }

    @Test(
        "a tracker that no event names is reported by migrate, check and serve",
        .promise("invalid-settings"),
        arguments: ["console", "warehouse", "postgress"]
    )
    func unused(tracker: String) async throws {
        let folder = try folder(tracker: tracker)
        let words = try await run(tracker, in: folder, try await PrivatePostgres.shared().makeDatabase())
        let sentence = "No event of the plan names the tracker 'postgres', so it gets no events."
        let isMisspelled = tracker == "postgress"
        let advice =
            isMisspelled
            ? "Events name 'postgress'; did you mean 'postgres'?"
            : "Add 'postgres' to 'registeredTrackers' of the events that it should get."
        #expect(words.migrate.ending == .exit(0))
        #expect(words.migrate.errors.contains("warning: \(sentence) \(advice) There are no tables to create."))
        #expect(words.check.ending == .exit(1))
        #expect(words.check.output.contains("  error: \(sentence) \(advice) [unused-tracker]"), "\(words.check.output)")
        let line = words.serve.first { $0.hasSuffix("No event of the plan names this tracker, so it gets no events.") }
        #expect(line?.contains("named=\(tracker) tracker=postgres") == true, "\(words.serve)")
        // An event that is delivered nowhere is not silent either.
        let isLost = tracker != "console"
        #expect(
            words.status.output.contains { $0.contains("1 event NOT DELIVERED") } == isLost,
            "\(words.status.output)"
        )
        #expect(words.check.output.contains { $0.contains("[unconfigured-tracker]") } == isLost)
        #expect(words.lint.ending == .exit(0))
        let hint = "did you mean 'postgres'? If not, list all trackers in 'trackers' [similar-tracker]"
        for run in [words.lint.output, words.migrate.errors] {
            #expect(run.contains { $0.contains(": warning: ") && $0.hasSuffix(hint) } == isMisspelled, "\(run)")
        }
    }

    @Test("a name that is almost that of a configured tracker is reported with that name", .promise("invalid-settings"))
    func misspelled() async throws {
        let folder = try folder(tracker: "postgres")
        // A second event, for a tracker that is meant to be the first one's.
        try folder.write(
            Plans.shop(minimumQuantity: 1).replacing("<string>console", with: "<string>warehuose")
                .replacing(">Sold<", with: ">Returned<"),
            to: "plan/returned.plist"
        )
        try folder.write(
            Plans.shop(minimumQuantity: 1).replacing("<string>console", with: "<string>warehouse")
                .replacing(">Sold<", with: ">Seen<"),
            to: "plan/seen.plist"
        )
        let database = try await PrivatePostgres.shared().makeDatabase()
        try folder.write("trackers: { warehouse: { type: postgres, url: '\(database.url)' } }", to: "sluice.yaml")
        let arguments = ["--events", "plan", "--config", "sluice.yaml"]
        let sentence =
            "The tracker 'warehuose' is not configured, but 1 event names it: Returned. Did you mean 'warehouse'?"
        let migrate = try await Sluice.run(["migrate"] + arguments, in: folder)
        #expect(migrate.ending == .exit(0))
        #expect(migrate.errors.contains("warning: \(sentence)"), "\(migrate.errors)")
        #expect(migrate.output.contains("created seen"))
        let check = try await Sluice.run(["check", "--timeout", "60"] + arguments, in: folder)
        #expect(check.ending == .exit(0), "\(check.output)")
        #expect(check.output.contains("  warning: \(sentence) [unconfigured-tracker]"), "\(check.output)")
        let server = try await ServingSluice.start(["--config", "sluice.yaml"], in: folder, plan: "plan")
        let line = server.process.errors.lines.first { $0.contains("tracker=warehuose") }
        #expect(line?.contains("suggestion=warehouse") == true, "\(server.process.errors.lines)")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
