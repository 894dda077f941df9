import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `sluice forget`, and what keeps the people from coming back.
@Suite("sluice forget", .timeLimit(.minutes(5)))
struct ForgetTests {
    private let scene: ForgetScene

    init() async throws {
        scene = try await ForgetScene()
    }

    @Test(
        "after the erasure, no dump, log or receipt has the person, and no replay and no restored backup brings them back",
        .promise("erased-person")
    )
    func erased() async throws {
        _ = try await scene.serve(ForgetScene.events, rows: 8)
        let user = ForgetScene.user
        try await scene.refuse(#"{"userId":"\#(user)","payload":{}}"#, header: ForgetScene.canary, offset: 1)
        try await scene.refuse(#"{"userId":"bob","payload":{"size":"\#(user)"}}"#, header: "bob", offset: 2)
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(scene.database.name)")
        #expect(try await scene.canaries(in: scene.database) == 5)

        let preview = try await scene.sluice("forget", "--user", user, "--dry-run")
        #expect(preview.ending == .exit(0), "\(preview.errors)")
        #expect(preview.output.contains("  postgres: 2 rows of analytics.bought"), "\(preview.output)")
        #expect(try await scene.canaries(in: scene.database) == 5)

        let forget = try await scene.sluice("forget", "--user", ForgetScene.user)
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        #expect(try await scene.canaries(in: scene.database) == 0)
        #expect(try await scene.rows(in: scene.database) == 4)
        #expect(try await scene.refused(in: scene.database) == ["2"])
        #expect(!(forget.output + forget.errors).contains { $0.contains(ForgetScene.canary) })
        let receipt = try scene.receipt()
        #expect((receipt["tombstones"] as? [Any])?.count == 2)
        let places = (receipt["remains"] as? [[String: Any]] ?? []).compactMap { $0["place"] as? String }
        #expect(
            Set(places).isSuperset(of: [
                "journal", "quarantine", "backups", "PostgreSQL's log", "derived tables", "clients",
            ]),
            "\(places)"
        )

        // The journal still has the events.
        let replay = try await scene.sluice("replay", "--json", "journal://journal")
        #expect(replay.ending == .exit(0), "\(replay.errors)")
        #expect(
            (replay.output + replay.errors).contains { $0.contains(#""forgotten":{"postgres":4}"#) },
            "\(replay.output)"
        )
        #expect(try await scene.canaries(in: scene.database) == 0)
        #expect(try await scene.sluice("check").ending == .exit(0))

        let stale = try await scene.sluice("check", at: backup)
        #expect(stale.ending == .exit(1))
        #expect(stale.output.contains { $0.contains("[erasure-undone]") }, "\(stale.output)")
        #expect(try await scene.canaries(in: backup) == 5)
        let again = try await scene.sluice("forget", "--again", "receipts", at: backup)
        #expect(again.ending == .exit(0), "\(again.errors)")
        #expect(try await scene.canaries(in: backup) == 0)
        #expect(try await scene.rows(in: backup) == 4)
        #expect(try await scene.refused(in: backup) == ["2"])
        #expect(try await scene.sluice("check", at: backup).ending == .exit(0))
        // What it reports is what it has erased now.
        try await backup.run("UPDATE analytics.seen SET user_id = '\(user)' WHERE user_id = 'bob'")
        let once = try await scene.sluice("forget", "--again", "receipts", at: backup)
        #expect(once.output.filter { $0.contains("postgres:") } == ["  postgres: 1 row of analytics.seen"])

        // Somebody who returns is a new person.
        let log = try await scene.serve([ForgetScene.events[0]], rows: 5)
        #expect(!log.contains { $0.contains(ForgetScene.canary) })
        #expect(try await scene.canaries(in: scene.database) == 1)
    }

    @Test(
        "after rows were anonymised, no dump has the person; later arrivals are dropped, and a restored backup is anonymised again",
        .promise("erased-person")
    )
    func anonymised() async throws {
        _ = try await scene.serve(ForgetScene.allEvents(note: "kept"), rows: 8)
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(scene.database.name)")
        let person = ["forget", "--anonymise", "--user", ForgetScene.user]

        let preview = try await scene.sluice(person + ["--dry-run"])
        #expect(preview.ending == .exit(0), "\(preview.errors)")
        #expect(preview.output.contains("would be anonymised:"), "\(preview.output)")
        #expect(preview.output.contains("  postgres: 2 rows of analytics.bought"), "\(preview.output)")
        #expect(try await scene.canaries(in: scene.database) == 4)

        let forget = try await scene.sluice(person)
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        #expect(forget.output.contains("anonymised:"), "\(forget.output)")
        #expect(try await scene.canaries(in: scene.database) == 0)
        #expect(try await scene.rows(in: scene.database) == 8)
        let kept = "SELECT count(*) FROM analytics.seen WHERE note = 'kept' AND user_id IS NULL AND context IS NULL"
        #expect(try await scene.database.run(kept) == ["2"])
        let receipt = try scene.receipt()
        #expect(receipt["anonymises"] as? Bool == true)
        #expect((receipt["erased"] as? [Any])?.isEmpty == true)
        let anonymised = try #require(receipt["anonymised"] as? [[String: Any]])
        #expect(anonymised.compactMap { $0["events"] as? Int } == [2, 2])

        let replay = try await scene.sluice("replay", "--json", "journal://journal")
        #expect(
            (replay.output + replay.errors).contains { $0.contains(#""forgotten":{"postgres":4}"#) },
            "\(replay.output)"
        )
        #expect(try await scene.rows(in: scene.database) == 8)
        #expect(try await scene.sluice("check").ending == .exit(0))

        #expect(try await scene.sluice("check", at: backup).ending == .exit(1))
        let again = try await scene.sluice("forget", "--again", "receipts", at: backup)
        #expect(again.ending == .exit(0), "\(again.errors)")
        #expect(again.output.contains("anonymised:"), "\(again.output)")
        #expect(try await scene.canaries(in: backup) == 0)
        #expect(try await scene.rows(in: backup) == 8)
        #expect(try await scene.sluice("check", at: backup).ending == .exit(0))
        // What it reports is what it has anonymised now.
        try await backup.run("UPDATE analytics.seen SET user_id = '\(ForgetScene.user)' WHERE user_id = 'bob'")
        let once = try await scene.sluice("forget", "--again", "receipts", at: backup)
        #expect(once.output.prefix(2) == ["anonymised:", "  postgres: 1 row of analytics.seen"], "\(once.output)")
        #expect(try await scene.rows(in: backup) == 8)
    }

    @Test(
        "events without a user of a shared device are listed and kept, and erased only on demand",
        .promise("erased-person")
    )
    func shared() async throws {
        let others = ["eve", "zoe"].map { ForgetScene.event("Seen", user: $0, device: "kiosk", note: "other") }
        _ = try await scene.serve(ForgetScene.events + others, rows: 10)
        let kept = try await scene.sluice("forget", "--user", "bob")
        #expect(kept.ending == .exit(0), "\(kept.errors)")
        #expect(kept.output.contains("shared device, not erased without --include-shared: kiosk"), "\(kept.output)")
        let left = "SELECT user_id FROM analytics.seen WHERE anonymous_id = 'kiosk' ORDER BY user_id NULLS LAST"
        #expect(
            try await scene.database.run("SELECT coalesce(user_id, '-') FROM (\(left)) kept") == ["eve", "zoe", "-"]
        )
        // No row of bob is left that shows the device.
        let rest = try await scene.sluice("forget", "--user", "bob", "--include-shared")
        #expect(rest.ending == .exit(0), "\(rest.errors)")
        #expect(try await scene.database.run("SELECT coalesce(user_id, '-') FROM (\(left)) kept") == ["eve", "zoe"])
        let all = try await scene.sluice("forget", "--user", "eve", "--include-shared")
        #expect(all.ending == .exit(0), "\(all.errors)")
        #expect(try await scene.database.run("SELECT coalesce(user_id, '-') FROM (\(left)) kept") == ["zoe"])
    }

    @Test("ids that differ only in Unicode normalization are different people and devices", .promise("erased-person"))
    func exactIDs() async throws {
        // One letter of one code point, and of two.
        let spellings = ["\u{e9}", "e\u{301}"]
        let lineBreak = "a\u{2028}b"
        let others = [lineBreak, "a", "b"].map { ($0, "-") }
        let people = spellings.flatMap { [("jos" + $0, "d" + $0), ("ren" + $0, "t")] } + others
        // A person with a device of each spelling, which no other request names.
        let devices = spellings.map { ("kim", "k" + $0) }
        let strangers = spellings.flatMap { ["(NULL, 'd\($0)')", "(NULL, 'k\($0)')"] }
        let users = (people + devices).map { "('\($0.0)', '\($0.1)')" } + strangers
        try await scene.database.run(
            """
            INSERT INTO analytics.seen (id, occurred_at, received_at, user_id, anonymous_id, note)
            SELECT gen_random_uuid(), now(), now(), user_id, nullif(anonymous_id, '-'), 'n'
            FROM (VALUES \(users.joined(separator: ", "))) AS t (user_id, anonymous_id)
            """
        )
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(scene.database.name)")
        try scene.folder.write("ren\u{e9}\r\nrene\u{301}\r\n\(lineBreak)", to: "people.txt")
        // In requests of their own, and in one.
        for users in ["jos\u{e9}", "jose\u{301}", "kim"].map({ ["--user", $0] }) + [["--file", "people.txt"]] {
            let forget = try await scene.sluice(["forget", "--include-shared"] + users)
            #expect(forget.ending == .exit(0), "\(forget.errors)")
        }
        let again = try await scene.sluice("forget", "--again", "receipts", at: backup)
        #expect(again.ending == .exit(0), "\(again.errors)")
        for database in [scene.database, backup] {
            #expect(try await database.run("SELECT user_id FROM analytics.seen ORDER BY 1") == ["a", "b"])
        }
    }

    @Test(
        "what a tracker has not delivered has no date in the receipt, and is dropped when the tracker works again",
        .promise("erased-person")
    )
    func undelivered() async throws {
        let server = try await ServingSluice.start(
            "--postgres",
            "postgres://postgres@127.0.0.1:1/none",
            "--no-console",
            in: scene.folder,
            plan: "plan",
            environment: ForgetScene.environment
        )
        let answer = try await server.post(ForgetScene.events.joined(separator: "\n"), type: "application/x-ndjson")
        #expect(answer.status == 200, "\(answer.body)")
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()
        // No row says whose device it is, so only events that name the user are covered.
        let early = try await scene.sluice("forget", "--user", ForgetScene.user)
        #expect(early.ending == .exit(1))
        #expect(early.errors.contains { $0.contains("'postgres' has not delivered") }, "\(early.errors)")
        let receipts = try? FileManager.default.contentsOfDirectory(atPath: scene.folder.path("receipts"))
        #expect(receipts?.isEmpty ?? true)
        let forget = try await scene.sluice("forget", "--user", ForgetScene.user, "--allow-lag")
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        let remains = try #require(try scene.receipt()["remains"] as? [[String: Any]])
        let journal = try #require(remains.first { $0["place"] as? String == "journal" })
        #expect(journal["until"] == nil)
        let cuts = try #require(remains.first { $0["place"] as? String == "journal's .cut files" })
        #expect(cuts["until"] == nil)
        #expect((journal["note"] as? String)?.contains("trackers have delivered or skipped them: postgres.") == true)

        let log = try await scene.serve([], rows: 6)
        #expect(log.contains { $0.contains("The tracker does not get events of people whose data was erased.") })
        #expect(try await scene.rows(in: scene.database) == 6)
        let users = "SELECT count(*) FROM analytics.bought WHERE user_id LIKE '\(ForgetScene.canary)%'"
        #expect(try await scene.database.run(users) == ["0"])
    }

    @Test("it waits until a tracker that is paused has delivered what shows the devices", .promise("erased-person"))
    func waiting() async throws {
        let server = try await ServingSluice.start(
            "--postgres",
            scene.database.url,
            "--no-console",
            in: scene.folder,
            plan: "plan",
            environment: ForgetScene.environment
        )
        #expect(try await Sluice.run("pause", "postgres", in: scene.folder).ending == .exit(0))
        let answer = try await server.post(ForgetScene.events.joined(separator: "\n"), type: "application/x-ndjson")
        #expect(answer.status == 200, "\(answer.body)")
        let process = try SluiceProcess(
            [
                "forget", "--user", ForgetScene.user, "--events", "plan", "--postgres", scene.database.url,
                "--no-console",
            ],
            in: scene.folder,
            environment: ForgetScene.environment
        )
        try await process.errors.waitForLines(1)
        #expect(process.errors.lines.first?.hasPrefix("Waiting") == true, "\(process.errors.text)")
        #expect(try await Sluice.run("resume", "postgres", in: scene.folder).ending == .exit(0))
        #expect(try await process.waitForEnd() == .exit(0), "\(process.errors.text)")
        #expect(try await scene.rows(in: scene.database) == 4)
        #expect(try await scene.canaries(in: scene.database) == 0)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("without a folder, a key or a person it says what is missing, and a damaged receipt stops serve")
    func usage() async throws {
        let arguments = ["--events", "plan", "--postgres", scene.database.url]
        func run(_ more: [String], _ environment: [String: String] = ForgetScene.environment) async throws -> Finished {
            try await Sluice.run(["forget"] + more + arguments, in: scene.folder, environment: environment)
        }
        let person = ["--user", "ada"]
        #expect(try await run([]).ending == .exit(64))
        #expect(try await run(["--user", ""]).ending == .exit(64))
        #expect(try await run(person + ["--again", "receipts"]).ending == .exit(64))
        #expect(try await run(["--again", "receipts", "--allow-lag"]).ending == .exit(64))
        #expect(try await run(["--anonymise", "--again", "receipts"]).ending == .exit(64))
        let noFolder = try await run(person, ["SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key"])
        #expect(noFolder.ending == .exit(1) && noFolder.errors.contains { $0.contains("privacy.receiptsFolder") })
        let noKey = try await run(person, ["SLUICE_PRIVACY_RECEIPTS_FOLDER": "receipts"])
        #expect(noKey.ending == .exit(1) && noKey.errors.contains { $0.contains("privacy.hashKeyFile") })
        try scene.folder.write("{}", to: "receipts/damaged.json")
        for command in ["serve", "forget"] {
            let more = command == "forget" ? person : ["--listen", "127.0.0.1:0"]
            let damaged = try await Sluice.run(
                [command] + more + arguments,
                in: scene.folder,
                environment: ForgetScene.environment
            )
            #expect(damaged.ending == .exit(1))
            #expect(
                damaged.errors.contains { $0.contains("receipts/damaged.json' cannot be used") },
                "\(damaged.errors)"
            )
        }
    }
}
