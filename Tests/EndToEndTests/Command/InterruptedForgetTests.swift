import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `sluice forget` that is killed in the middle, and what the next run does.
@Suite("sluice forget, interrupted", .timeLimit(.minutes(5)))
struct InterruptedForgetTests {
    private let scene: ForgetScene

    init() async throws {
        scene = try await ForgetScene()
    }

    @Test(
        "an erasure that is killed in the middle is reported by check, and the next run in the same mode completes it",
        arguments: [[], ["--anonymise"]]
    )
    func killed(mode: [String]) async throws {
        let anonymises = !mode.isEmpty
        _ = try await scene.serve(ForgetScene.allEvents(note: "kept"), rows: 8)
        try await scene.refuse(
            #"{"userId":"\#(ForgetScene.user)","payload":{}}"#,
            header: ForgetScene.canary,
            offset: 1
        )
        let person = ["--user", ForgetScene.user]
        try await scene.killForget(
            person + mode,
            at: scene.database,
            whileLocked: "_sluice_refused",
            once: ForgetScene.isGone(ForgetScene.canary, from: "bought", "seen")
        )
        #expect(try scene.receipt()["finishedAt"] == nil)
        #expect(try await scene.refused(in: scene.database) == ["1"])
        #expect(try await scene.rows(in: scene.database) == (anonymises ? 8 : 4))
        // They would say that everything was erased.
        #expect(try await scene.database.run("SELECT count(*) FROM analytics._sluice_forgotten") == ["0"])
        let check = try await scene.sluice("check")
        #expect(check.ending == .exit(1))
        #expect(check.output.contains { $0.contains("[erasure-unfinished]") }, "\(check.output)")
        #expect(!check.output.contains { $0.contains("[erasure-undone]") }, "\(check.output)")

        if !anonymises {
            let other = try await scene.sluice(["forget", "--anonymise"] + person)
            #expect(other.ending == .exit(1))
            #expect(other.errors.contains { $0.contains("these people was interrupted") }, "\(other.errors)")
            #expect(try await scene.refused(in: scene.database) == ["1"])
        }
        let next = try await scene.sluice(["forget"] + person + mode)
        #expect(next.ending == .exit(0), "\(next.errors)")
        #expect(try await scene.canaries(in: scene.database) == 0)
        #expect(try await scene.refused(in: scene.database) == [])
        #expect(try await scene.rows(in: scene.database) == (anonymises ? 8 : 4))
        #expect(try counts("erased") == (anonymises ? [1] : [1, 2, 2]))
        #expect(try counts("anonymised") == (anonymises ? [2, 2] : []))
        #expect(try await scene.sluice("check").ending == .exit(0))
    }

    /// The numbers of events in a field of the only receipt, sorted.
    private func counts(_ field: String) throws -> [Int] {
        let places = try #require(try scene.receipt()[field] as? [[String: Any]])
        return places.compactMap { $0["events"] as? Int }.sorted()
    }

    @Test("a deletion replaces an anonymisation that was interrupted, since that may be impossible to complete")
    func replaced() async throws {
        _ = try await scene.serve(ForgetScene.allEvents(note: "kept"), rows: 8)
        try await scene.database.run(
            "ALTER TABLE analytics.seen ADD CHECK (user_id IS NOT NULL OR anonymous_id IS NOT NULL)"
        )
        let person = ["--user", ForgetScene.user]
        #expect(try await scene.sluice(["forget", "--anonymise"] + person).ending == .exit(1))
        // The rows of `bought` are anonymised, and do not show the device any more.
        #expect(try await scene.canaries(in: scene.database) == 2)
        let deletion = try await scene.sluice(["forget"] + person)
        #expect(deletion.ending == .exit(0), "\(deletion.errors)")
        #expect(try await scene.canaries(in: scene.database) == 0)
        #expect(try await scene.rows(in: scene.database) == 6)
        #expect(try await scene.sluice("check").ending == .exit(0))
    }

    @Test("a run that was killed before the end of its last VACUUM is completed by the next one")
    func vacuum() async throws {
        _ = try await scene.serve(ForgetScene.events, rows: 8)
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(scene.database.name)")
        #expect(try await scene.sluice("forget", "--user", ForgetScene.user).ending == .exit(0))
        // VACUUM waits for this lock, and deletions do not.
        let part = try await backup.run(
            "SELECT DISTINCT tableoid::regclass FROM analytics.seen WHERE user_id = '\(ForgetScene.user)'"
        )
        let session = try backup.server.openSession(backup.name)
        try session.run("BEGIN; LOCK TABLE \(try #require(part.first)) IN SHARE UPDATE EXCLUSIVE MODE; SELECT 1;")
        let process = try SluiceProcess(
            ["forget", "--again", "receipts", "--events", "plan", "--postgres", backup.url, "--no-console"],
            in: scene.folder,
            environment: ForgetScene.environment
        )
        try await backup.waitForSessions(1, waitingFor: "relation", application: "sluice%")
        process.send(SIGKILL)
        _ = try await process.waitForEnd()
        try session.close()
        let unvacuumed = "SELECT count(*) > 0 FROM analytics._sluice_erased WHERE vacuumed_at IS NULL"
        try await backup.run(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'sluice%'
            """
        )
        #expect(try await backup.run(unvacuumed) == ["t"])
        #expect(try await scene.sluice("forget", "--again", "receipts", at: backup).ending == .exit(0))
        #expect(try await backup.run(unvacuumed) == ["f"])
        #expect(try await scene.sluice("check", at: backup).ending == .exit(0))
    }

    @Test(
        "a restored backup is reported until everything was erased from it",
        .promise("erased-person"),
        arguments: [[], ["--anonymise"]]
    )
    func restored(mode: [String]) async throws {
        _ = try await scene.serve(ForgetScene.allEvents(note: "kept"), rows: 8)
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(scene.database.name)")
        #expect(try await scene.sluice(["forget", "--user", ForgetScene.user] + mode).ending == .exit(0))
        try await scene.killForget(
            ["--again", "receipts"],
            at: backup,
            whileLocked: "seen",
            once: ForgetScene.isGone(ForgetScene.canary, from: "bought")
        )
        let check = try await scene.sluice("check", at: backup)
        #expect(check.ending == .exit(1))
        #expect(check.output.contains { $0.contains("[erasure-undone]") }, "\(check.output)")
        #expect(try await scene.sluice("forget", "--again", "receipts", at: backup).ending == .exit(0))
        #expect(try await scene.canaries(in: backup) == 0)
        #expect(try await scene.rows(in: backup) == (mode.isEmpty ? 4 : 8))
        #expect(try await scene.sluice("check", at: backup).ending == .exit(0))
    }

    @Test(
        "an interrupted request for less than the next run asks for is completed, and the rest is erased as well",
        arguments: [[], ["--anonymise"]]
    )
    func widened(mode: [String]) async throws {
        let other = ForgetScene.event("Seen", user: "eve", device: "kiosk", note: "other")
        _ = try await scene.serve(ForgetScene.events + [other], rows: 9)
        try await scene.killForget(
            ["--user", "bob"] + mode,
            at: scene.database,
            whileLocked: "seen",
            once: "SELECT 1 WHERE NOT EXISTS (SELECT FROM analytics.bought WHERE user_id = 'bob')"
        )
        let next = try await scene.sluice(["forget", "--user", "bob", "--include-shared"] + mode)
        #expect(next.ending == .exit(0), "\(next.errors)")
        #expect(next.output.contains("shared device, not erased without --include-shared: kiosk"), "\(next.output)")
        let left = "SELECT user_id FROM analytics.seen WHERE anonymous_id = 'kiosk'"
        #expect(try await scene.database.run(left) == ["eve"])
        #expect(try await scene.rows(in: scene.database) == (mode.isEmpty ? 5 : 9))
        #expect(try await scene.sluice("check").ending == .exit(0))
    }

    @Test("receipts apply in the order of their requests, so that a deletion spares what was anonymised before it")
    func order() async throws {
        _ = try await scene.serve(ForgetScene.allEvents(note: "kept"), rows: 8)
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(scene.database.name)")
        for mode in [["--anonymise"], []] {
            #expect(try await scene.sluice(["forget", "--user", ForgetScene.user] + mode).ending == .exit(0))
        }
        #expect(try await scene.rows(in: scene.database) == 8)
        let names = try FileManager.default.contentsOfDirectory(atPath: scene.folder.path("receipts")).sorted()
        let again = names.reversed().flatMap { ["--again", "receipts/\($0)"] }
        #expect(try await scene.sluice(["forget"] + again, at: backup).ending == .exit(0))
        #expect(try await scene.rows(in: backup) == 8)
        #expect(try await scene.canaries(in: backup) == 0)
    }
}
