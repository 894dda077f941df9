import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `sluice forget`, and what keeps the people from coming back.
@Suite("sluice forget", .timeLimit(.minutes(5)))
struct ForgetTests {
    private static let plan = """
        <plist>
        <dict>
          <key>events</key>
          <dict>
            <key>Bought</key>
            <dict>
              <key>registeredTrackers</key> <array><string>postgres</string></array>
              <key>payload</key>
              <dict>
                <key>note</key> <string>string</string>
                <key>mail</key>
                <dict>
                  <key>type</key> <string>string</string>
                  <key>required</key> <false/>
                  <key>sensitive</key> <dict><key>trackers</key> <array><string>postgres</string></array></dict>
                </dict>
              </dict>
            </dict>
            <key>Seen</key>
            <dict>
              <key>registeredTrackers</key> <array><string>postgres</string></array>
              <key>payload</key>
              <dict>
                <key>note</key> <string>string</string>
                <key>mail</key>
                <dict>
                  <key>type</key> <string>string</string>
                  <key>required</key> <false/>
                  <key>sensitive</key> <dict><key>trackers</key> <array><string>postgres</string></array></dict>
                </dict>
              </dict>
            </dict>
          </dict>
        </dict>
        </plist>
        """
    private static let environment = [
        "SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key", "SLUICE_PRIVACY_RECEIPTS_FOLDER": "receipts",
    ]
    /// What must be left nowhere: it is part of each identifier and each value of the person's events.
    private static let canary = "CANARY"

    private let folder: TestFolder
    private let database: TestDatabase

    init() async throws {
        folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/plan.plist")
        try folder.write("a key of enough bytes\n", to: "hash.key")
        database = try await PrivatePostgres.shared().makeDatabase()
        let migration = try await Sluice.run("migrate", "--events", "plan", "--postgres", database.url, in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
    }

    private static func event(
        _ name: String,
        user: String?,
        device: String?,
        note: String,
        mail: String? = nil
    ) -> String {
        let fields = [user.map { #""userId":"\#($0)","# }, device.map { #""anonymousId":"\#($0)","# }].compactMap { $0 }
        let mark = mail ?? note
        let context = #""sessionId":"s-\#(mark)","context":{"page":"\#(mark)"},"#
        let ofMail = mail.map { #","mail":"\#($0)""# } ?? ""
        return #"{"name":"\#(name)",\#(fields.joined())\#(context)"payload":{"note":"\#(note)"\#(ofMail)}}"#
    }

    /// The person's events, with and without the user, and those of others; 8 rows.
    private static let events = allEvents(note: canary)

    /// The same with another value of the property that is not sensitive.
    private static func allEvents(note: String) -> [String] {
        ["Bought", "Seen"].flatMap { name in
            [
                event(name, user: "\(canary)-user", device: "\(canary)-device", note: note, mail: canary),
                event(name, user: nil, device: "\(canary)-device", note: note, mail: canary),
                event(name, user: "bob", device: "kiosk", note: "other"),
                event(name, user: nil, device: "kiosk", note: "unknown"),
            ]
        }
    }

    private func sluice(_ arguments: String..., at database: TestDatabase? = nil) async throws -> Finished {
        try await sluice(arguments, at: database)
    }

    private func sluice(_ arguments: [String], at database: TestDatabase? = nil) async throws -> Finished {
        let fixed = ["--events", "plan", "--postgres", (database ?? self.database).url, "--no-console"]
        return try await Sluice.run(arguments + fixed, in: folder, environment: Self.environment)
    }

    /// Serves until events are in the tables, and returns the lines of the log.
    private func serve(_ events: [String], rows: Int) async throws -> [String] {
        let server = try await ServingSluice.start(
            "--postgres",
            database.url,
            "--no-console",
            "--log-level",
            "trace",
            in: folder,
            plan: "plan",
            environment: Self.environment
        )
        if !events.isEmpty {
            let answer = try await server.post(events.joined(separator: "\n"), type: "application/x-ndjson")
            #expect(answer.status == 200, "\(answer.body)")
        }
        while try await self.rows(in: database) < rows { try Task.checkCancellation() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        return server.process.errors.lines
    }

    private func rows(in database: TestDatabase) async throws -> Int {
        let count = "SELECT (SELECT count(*) FROM analytics.bought) + (SELECT count(*) FROM analytics.seen)"
        return Int(try await database.run(count).first ?? "") ?? -1
    }

    /// How many lines of a dump of a database have the canary.
    private func canaries(in database: TestDatabase) async throws -> Int {
        let dump = try await Command.run("pg_dump", [database.url])
        try #require(dump.status == 0)
        #expect(dump.text.contains("bob"))
        return dump.text.split(separator: "\n").count { $0.contains(Self.canary) }
    }

    /// The only receipt.
    private func receipt() throws -> [String: Any] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("receipts"))
        try #require(names.count == 1)
        let data = try Data(contentsOf: folder.url.appending(path: "receipts/\(names[0])"))
        #expect(data.range(of: Data(Self.canary.utf8)) == nil)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test(
        "after the erasure, no dump, log or receipt has the person, and no replay and no restored backup brings them back",
        .promise("erased-person")
    )
    func erased() async throws {
        _ = try await serve(Self.events, rows: 8)
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(database.name)")
        #expect(try await canaries(in: database) == 4)

        let preview = try await sluice("forget", "--user", "\(Self.canary)-user", "--dry-run")
        #expect(preview.ending == .exit(0), "\(preview.errors)")
        #expect(preview.output.contains("  postgres: 2 rows of analytics.bought"), "\(preview.output)")
        #expect(try await canaries(in: database) == 4)

        let forget = try await sluice("forget", "--user", "\(Self.canary)-user")
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        #expect(try await canaries(in: database) == 0)
        #expect(try await rows(in: database) == 4)
        #expect(!(forget.output + forget.errors).contains { $0.contains(Self.canary) })
        let receipt = try receipt()
        #expect((receipt["tombstones"] as? [Any])?.count == 2)
        let places = (receipt["remains"] as? [[String: Any]] ?? []).compactMap { $0["place"] as? String }
        #expect(
            Set(places).isSuperset(of: ["journal", "quarantine", "backups", "derived tables", "clients"]),
            "\(places)"
        )

        // The journal still has the events.
        let replay = try await sluice("replay", "--json", "journal://journal")
        #expect(replay.ending == .exit(0), "\(replay.errors)")
        #expect(
            (replay.output + replay.errors).contains { $0.contains(#""forgotten":{"postgres":4}"#) },
            "\(replay.output)"
        )
        #expect(try await canaries(in: database) == 0)
        #expect(try await sluice("check").ending == .exit(0))

        let stale = try await sluice("check", at: backup)
        #expect(stale.ending == .exit(1))
        #expect(stale.output.contains { $0.contains("[erasure-undone]") }, "\(stale.output)")
        #expect(try await canaries(in: backup) == 4)
        let again = try await sluice("forget", "--again", "receipts", at: backup)
        #expect(again.ending == .exit(0), "\(again.errors)")
        #expect(try await canaries(in: backup) == 0)
        #expect(try await rows(in: backup) == 4)
        #expect(try await sluice("check", at: backup).ending == .exit(0))

        // Somebody who returns is a new person.
        let log = try await serve([Self.events[0]], rows: 5)
        #expect(!log.contains { $0.contains(Self.canary) })
        #expect(try await canaries(in: database) == 1)
    }

    @Test(
        "after rows were anonymised, no dump has the person; later arrivals are dropped, and a restored backup is anonymised again",
        .promise("erased-person")
    )
    func anonymised() async throws {
        _ = try await serve(Self.allEvents(note: "kept"), rows: 8)
        let backup = try await PrivatePostgres.shared().makeDatabase("TEMPLATE \(database.name)")
        let person = ["forget", "--anonymise", "--user", "\(Self.canary)-user"]

        let preview = try await sluice(person + ["--dry-run"])
        #expect(preview.ending == .exit(0), "\(preview.errors)")
        #expect(preview.output.contains("would be anonymised:"), "\(preview.output)")
        #expect(preview.output.contains("  postgres: 2 rows of analytics.bought"), "\(preview.output)")
        #expect(try await canaries(in: database) == 4)

        let forget = try await sluice(person)
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        #expect(forget.output.contains("anonymised:"), "\(forget.output)")
        #expect(try await canaries(in: database) == 0)
        #expect(try await rows(in: database) == 8)
        let kept = "SELECT count(*) FROM analytics.seen WHERE note = 'kept' AND user_id IS NULL AND context IS NULL"
        #expect(try await database.run(kept) == ["2"])
        let receipt = try receipt()
        #expect(receipt["anonymises"] as? Bool == true)
        #expect((receipt["erased"] as? [Any])?.isEmpty == true)
        let anonymised = try #require(receipt["anonymised"] as? [[String: Any]])
        #expect(anonymised.compactMap { $0["events"] as? Int } == [2, 2])

        let replay = try await sluice("replay", "--json", "journal://journal")
        #expect(
            (replay.output + replay.errors).contains { $0.contains(#""forgotten":{"postgres":4}"#) },
            "\(replay.output)"
        )
        #expect(try await rows(in: database) == 8)
        #expect(try await sluice("check").ending == .exit(0))

        #expect(try await sluice("check", at: backup).ending == .exit(1))
        let again = try await sluice("forget", "--again", "receipts", at: backup)
        #expect(again.ending == .exit(0), "\(again.errors)")
        #expect(again.output.contains("anonymised:"), "\(again.output)")
        #expect(try await canaries(in: backup) == 0)
        #expect(try await rows(in: backup) == 8)
        #expect(try await sluice("check", at: backup).ending == .exit(0))
    }

    @Test(
        "events without a user of a shared device are listed and kept, and erased only on demand",
        .promise("erased-person")
    )
    func shared() async throws {
        let others = ["eve", "zoe"].map { Self.event("Seen", user: $0, device: "kiosk", note: "other") }
        _ = try await serve(Self.events + others, rows: 10)
        let kept = try await sluice("forget", "--user", "bob")
        #expect(kept.ending == .exit(0), "\(kept.errors)")
        #expect(kept.output.contains("shared device, not erased without --include-shared: kiosk"), "\(kept.output)")
        let left = "SELECT user_id FROM analytics.seen WHERE anonymous_id = 'kiosk' ORDER BY user_id NULLS LAST"
        #expect(try await database.run("SELECT coalesce(user_id, '-') FROM (\(left)) kept") == ["eve", "zoe", "-"])
        let all = try await sluice("forget", "--user", "eve", "--include-shared")
        #expect(all.ending == .exit(0), "\(all.errors)")
        #expect(try await database.run("SELECT coalesce(user_id, '-') FROM (\(left)) kept") == ["zoe"])
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
            in: folder,
            plan: "plan",
            environment: Self.environment
        )
        let answer = try await server.post(Self.events.joined(separator: "\n"), type: "application/x-ndjson")
        #expect(answer.status == 200, "\(answer.body)")
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()
        // No row says whose device it is, so only events that name the user are covered.
        let forget = try await sluice("forget", "--user", "\(Self.canary)-user")
        #expect(forget.ending == .exit(0), "\(forget.errors)")
        let remains = try #require(try receipt()["remains"] as? [[String: Any]])
        let journal = try #require(remains.first { $0["place"] as? String == "journal" })
        #expect(journal["until"] == nil)
        #expect((journal["note"] as? String)?.contains("trackers have delivered or skipped them: postgres.") == true)

        let log = try await serve([], rows: 6)
        #expect(log.contains { $0.contains("The tracker does not get events of people whose data was erased.") })
        #expect(try await rows(in: database) == 6)
        let users = "SELECT count(*) FROM analytics.bought WHERE user_id LIKE '\(Self.canary)%'"
        #expect(try await database.run(users) == ["0"])
    }

    @Test(
        "an erasure that is killed in the middle is reported by check, and the next run in the same mode completes it",
        arguments: [false, true]
    )
    func killed(anonymises: Bool) async throws {
        _ = try await serve(Self.allEvents(note: "kept"), rows: 8)
        let person = ["forget", "--user", "\(Self.canary)-user"]
        let mode = anonymises ? ["--anonymise"] : []
        let (rowsBetween, rowsAfter) = anonymises ? (8, 8) : (6, 4)
        // The rows of one table are locked, so the erasure stops after the table before.
        let session = try database.server.openSession(database.name)
        try session.run("BEGIN; SELECT count(*) FROM (SELECT FROM analytics.seen FOR UPDATE) locked;")
        let process = try SluiceProcess(
            person + mode + ["--events", "plan", "--postgres", database.url, "--no-console"],
            in: folder,
            environment: Self.environment
        )
        let ofPerson = "SELECT count(*) FROM analytics.bought WHERE anonymous_id LIKE '\(Self.canary)%'"
        while try await database.run(ofPerson) != ["0"] { try Task.checkCancellation() }
        process.send(SIGKILL)
        _ = try await process.waitForEnd()
        // The server notices the end of the process late, and would go on.
        try await database.run(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'sluice%'
            """
        )
        try session.close()
        #expect(try await rows(in: database) == rowsBetween)
        #expect(try receipt()["finishedAt"] == nil)
        let check = try await sluice("check")
        #expect(check.ending == .exit(1))
        #expect(check.output.contains { $0.contains("[erasure-unfinished]") }, "\(check.output)")

        let other = try await sluice(person + (anonymises ? [] : ["--anonymise"]))
        #expect(other.ending == .exit(1))
        #expect(other.errors.contains { $0.contains("these people was interrupted") }, "\(other.errors)")
        #expect(try await canaries(in: database) == 2)
        let next = try await sluice(person + mode)
        #expect(next.ending == .exit(0), "\(next.errors)")
        #expect(try await canaries(in: database) == 0)
        #expect(try await rows(in: database) == rowsAfter)
        let erased = try #require(try receipt()[anonymises ? "anonymised" : "erased"] as? [[String: Any]])
        #expect(erased.compactMap { $0["events"] as? Int } == [2, 2])
        #expect(try await sluice("check").ending == .exit(0))
    }

    @Test("without a folder, a key or a person it says what is missing, and a damaged receipt stops serve")
    func usage() async throws {
        let arguments = ["--events", "plan", "--postgres", database.url]
        func run(_ more: [String], _ environment: [String: String] = Self.environment) async throws -> Finished {
            try await Sluice.run(["forget"] + more + arguments, in: folder, environment: environment)
        }
        let person = ["--user", "ada"]
        #expect(try await run([]).ending == .exit(64))
        #expect(try await run(["--user", ""]).ending == .exit(64))
        #expect(try await run(person + ["--again", "receipts"]).ending == .exit(64))
        #expect(try await run(["--anonymise", "--again", "receipts"]).ending == .exit(64))
        let noFolder = try await run(person, ["SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key"])
        #expect(noFolder.ending == .exit(1) && noFolder.errors.contains { $0.contains("privacy.receiptsFolder") })
        let noKey = try await run(person, ["SLUICE_PRIVACY_RECEIPTS_FOLDER": "receipts"])
        #expect(noKey.ending == .exit(1) && noKey.errors.contains { $0.contains("privacy.hashKeyFile") })
        try folder.write("{}", to: "receipts/damaged.json")
        for command in ["serve", "forget"] {
            let more = command == "forget" ? person : ["--listen", "127.0.0.1:0"]
            let damaged = try await Sluice.run([command] + more + arguments, in: folder, environment: Self.environment)
            #expect(damaged.ending == .exit(1))
            #expect(
                damaged.errors.contains { $0.contains("receipts/damaged.json' cannot be used") },
                "\(damaged.errors)"
            )
        }
    }
}
