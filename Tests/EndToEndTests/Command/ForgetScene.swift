import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// The parts of a test of `sluice forget`: a plan, a migrated database, and events of a person and of others.
struct ForgetScene: Sendable {
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
    static let environment = [
        "SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key", "SLUICE_PRIVACY_RECEIPTS_FOLDER": "receipts",
    ]
    /// What must be left nowhere: it is part of each identifier and each value of the person's events.
    static let canary = "CANARY"
    /// The person's user id.
    static let user = "\(canary)-user"

    let folder: TestFolder
    let database: TestDatabase

    init() async throws {
        folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/plan.plist")
        try folder.write("a key of enough bytes\n", to: "hash.key")
        // As an operator does before the first request.
        try FileManager.default.createDirectory(atPath: folder.path("receipts"), withIntermediateDirectories: false)
        database = try await PrivatePostgres.shared().makeDatabase()
        let migration = try await Sluice.run("migrate", "--events", "plan", "--postgres", database.url, in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
    }

    /// An event as JSON; the session and the context contain its mail, if it has one, else its note.
    static func event(
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
    static let events = allEvents(note: canary)

    /// The same with another value of the person's property that is not sensitive.
    static func allEvents(note: String) -> [String] {
        ["Bought", "Seen"].flatMap { name in
            [
                event(name, user: user, device: "\(canary)-device", note: note, mail: canary),
                event(name, user: nil, device: "\(canary)-device", note: note, mail: canary),
                event(name, user: "bob", device: "kiosk", note: "other"),
                event(name, user: nil, device: "kiosk", note: "unknown"),
            ]
        }
    }

    /// Runs a command to its end on this database, or on another.
    func sluice(_ arguments: String..., at database: TestDatabase? = nil) async throws -> Finished {
        try await sluice(arguments, at: database)
    }

    func sluice(_ arguments: [String], at database: TestDatabase? = nil) async throws -> Finished {
        let fixed = ["--events", "plan", "--postgres", (database ?? self.database).url, "--no-console"]
        return try await Sluice.run(arguments + fixed, in: folder, environment: Self.environment)
    }

    /// Serves until events are in the tables, and a condition is met, and returns the lines of the log.
    func serve(
        _ events: [String],
        rows: Int,
        until isDone: () throws -> Bool = { true }
    ) async throws -> [String] {
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
        while try await self.rows(in: database) < rows { try await waitBriefly() }
        while try !isDone() { try await waitBriefly() }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        return server.process.errors.lines
    }

    /// How many rows the tables of a database have.
    func rows(in database: TestDatabase) async throws -> Int {
        let count = "SELECT (SELECT count(*) FROM analytics.bought) + (SELECT count(*) FROM analytics.seen)"
        return Int(try await database.run(count).first ?? "") ?? -1
    }

    /// Stores a record that a loader has refused.
    func refuse(_ value: String, header: String, offset: Int) async throws {
        try await database.run(
            """
            INSERT INTO analytics._sluice_refused VALUES ('l', 'postgres', 'c', 't', 0, \(offset), 'key', '\(value)',
                '[{"name":"subject","value":"\(header)"}]', '{}', now())
            """
        )
    }

    /// The offsets of the refused records.
    func refused(in database: TestDatabase) async throws -> [String] {
        try await database.run("SELECT record_offset FROM analytics._sluice_refused ORDER BY 1")
    }

    /// A query that answers with `1` once no row of these tables has an identifier of a person.
    static func isGone(_ person: String, from tables: String...) -> String {
        let found = tables.map {
            "SELECT 1 FROM analytics.\($0) WHERE user_id LIKE '\(person)%' OR anonymous_id LIKE '\(person)%'"
        }
        return "SELECT 1 WHERE NOT EXISTS (\(found.joined(separator: " UNION ALL ")))"
    }

    /// Runs `sluice forget` while the rows of a table are locked, and kills it when a query answers with `1`.
    func killForget(
        _ arguments: [String],
        at database: TestDatabase,
        whileLocked table: String,
        once query: String
    ) async throws {
        let session = try database.server.openSession(database.name)
        try session.run("BEGIN; SELECT count(*) FROM (SELECT FROM analytics.\(table) FOR UPDATE) locked;")
        let process = try SluiceProcess(
            ["forget"] + arguments + ["--events", "plan", "--postgres", database.url, "--no-console"],
            in: folder,
            environment: Self.environment
        )
        while try await database.run(query) != ["1"] { try await waitBriefly() }
        process.send(SIGKILL)
        _ = try await process.waitForEnd()
        // The server notices the end of the process late, and would continue.
        try await database.run(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = current_database() AND application_name LIKE 'sluice%'
            """
        )
        try session.close()
    }

    /// How many lines of a dump of a database have the canary.
    func canaries(in database: TestDatabase) async throws -> Int {
        let dump = try await Command.run("pg_dump", [database.url])
        try #require(dump.status == 0)
        #expect(dump.text.contains("bob"))
        return dump.text.split(separator: "\n").count { $0.contains(Self.canary) }
    }

    /// The only receipt.
    func receipt() throws -> [String: Any] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("receipts"))
        try #require(names.count == 1)
        let data = try Data(contentsOf: folder.url.appending(path: "receipts/\(names[0])"))
        #expect(data.range(of: Data(Self.canary.utf8)) == nil)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}
