import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// What the plan protects, from the port to the destinations.
@Suite("sluice with sensitive values", .timeLimit(.minutes(5)))
struct SensitiveValueTests {
    private static let plan = """
        <plist>
        <dict>
          <key>context</key> <dict><key>ip</key> <dict><key>sensitive</key> <string>hash</string></dict></dict>
          <key>events</key>
          <dict>
            <key>Signed Up</key>
            <dict>
              <key>registeredTrackers</key> <array><string>console</string><string>postgres</string></array>
              <key>payload</key>
              <dict>
                <key>birthday</key> <dict><key>type</key> <string>string</string> <key>sensitive</key> <string>drop</string></dict>
                <key>email</key> <dict><key>type</key> <string>string</string> <key>sensitive</key> <string>hash</string></dict>
                <key>iban</key>
                <dict>
                  <key>type</key> <string>string</string>
                  <key>sensitive</key> <dict><key>trackers</key> <array><string>postgres</string></array></dict>
                </dict>
                <key>plan</key> <string>string</string>
              </dict>
            </dict>
          </dict>
        </dict>
        </plist>
        """

    private static let key = "a key of enough bytes"
    /// HMAC-SHA-256 of `EMAIL` with this key, computed by Python's `hmac`.
    private static let emailHash = "hmac-sha256:32615e6fa14b45499b81e3915c2420db6221d674debc0da2a20dd6bad00def44"
    /// The same of `192.0.2.77`.
    private static let addressHash = "hmac-sha256:88f471d45b86a563b6b9640c37cc931db5d593bdd462e8d222d1cc4aff81488a"

    /// An event whose sensitive values are recognizable: `BIRTHDAY`, `EMAIL`, `IBAN`.
    private static func event(_ plan: String = #""pro""#, name: String = "Signed Up", _ more: String = "") -> String {
        #"{"name":"\#(name)","payload":{"birthday":"BIRTHDAY","email":"EMAIL","iban":"IBAN","plan":\#(plan)\#(more)}}"#
    }

    /// Whether a text occurs in any file of a folder.
    private static func contains(_ text: String, in folder: TestFolder, _ name: String) throws -> Bool {
        let files = FileManager.default.enumerator(
            at: folder.url.appending(path: name),
            includingPropertiesForKeys: nil
        )
        for case let file as URL in try #require(files) where !file.hasDirectoryPath {
            if try Data(contentsOf: file).range(of: Data(text.utf8)) != nil { return true }
        }
        return false
    }

    @Test(
        "dropped and hashed values are in no file and no output, and hidden ones only where they are allowed",
        .promise("protected-values")
    )
    func everywhere() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/plan.plist")
        try folder.write(Self.key + "\n", to: "hash.key")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migration = try await Sluice.run("migrate", "--events", "plan", "--postgres", database.url, in: folder)
        #expect(migration.ending == .exit(0))
        let server = try await ServingSluice.start(
            "--postgres",
            database.url,
            "--log-level",
            "trace",
            in: folder,
            plan: "plan",
            environment: [
                "SLUICE_PRIVACY_HASH_KEY_FILE": "hash.key", "SLUICE_HTTP_RECORD_CLIENT_ADDRESS": "true",
                "SLUICE_HTTP_PROXIES": "127.0.0.1",
            ]
        )
        let bodies = [
            Self.event(), Self.event("7"), Self.event(name: "Sigend Up"), Self.event(#""pro""#, #","email ":"x""#),
            String(Self.event().dropLast(3)),
        ]
        for body in bodies {
            _ = try await server.post(body, type: "application/x-ndjson", "-H", "X-Forwarded-For: 192.0.2.77")
        }
        try await server.process.output?.waitForLines(1)
        try await folder.waitForQuarantined(4)
        while try await database.run("SELECT count(*) FROM analytics.signed_up") != ["1"] {
            try await waitBriefly()
        }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))

        let output = ((server.process.output?.lines ?? []) + server.process.errors.lines).joined(separator: "\n")
        try Self.expectNothing(in: folder, output)
        try await Self.expectRow(in: database)
    }

    private static func expectNothing(in folder: TestFolder, _ output: String) throws {
        for text in ["BIRTHDAY", "EMAIL", "192.0.2.77"] {
            #expect(try !contains(text, in: folder, "journal"), "\(text)")
            #expect(try !contains(text, in: folder, "quarantine"), "\(text)")
            #expect(!output.contains(text), "\(text)")
        }
        #expect(try contains("IBAN", in: folder, "journal"))
        #expect(!output.contains("IBAN") && output.contains(#""plan":"pro""#))
        #expect(folder.quarantined().filter { $0.contains("hmac-sha256:") }.count == 3)
    }

    private static func expectRow(in database: TestDatabase) async throws {
        let row = try await database.run("SELECT email, iban, plan, context->>'ip' FROM analytics.signed_up")
        #expect(row == ["\(emailHash)|IBAN|pro|\(addressHash)"])
        let columns = try await database.run(
            "SELECT count(*) FROM information_schema.columns WHERE table_name = 'signed_up' AND column_name = 'birthday'"
        )
        #expect(columns == ["0"])
    }

    @Test("a rejected event whose values were removed can be replayed once the plan is corrected")
    func replay() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/plan.plist")
        try folder.write(Self.event("7") + "\n", to: "events.ndjson")
        let environment = ["SLUICE_PRIVACY_HASH_KEY": Self.key]
        let first = try await Sluice.replay("events.ndjson", in: folder, plan: "plan", environment: environment)
        #expect(try first.report().rejectedByCode == ["wrong-type": 1])
        let corrected = Self.plan.replacing(
            "<key>plan</key> <string>string</string>",
            with: "<key>plan</key> <string>integer</string>"
        )
        try folder.write(corrected, to: "plan/plan.plist")
        let second = try await Sluice.replay("quarantine", in: folder, plan: "plan", environment: environment)
        #expect(second.ending == .exit(0), "\(second.errors)")
        #expect(
            second.output.first?.hasSuffix(
                #""payload":{"email":"\#(Self.emailHash)","plan":7}}"#
            ) == true
        )
    }

    @Test("a plan that hashes values needs a key, and a key is never printed")
    func keys() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/plan.plist")
        try folder.write("short", to: "short.key")
        func check(_ environment: [String: String]) async throws -> Finished {
            try await Sluice.run("check", "--events", "plan", in: folder, environment: environment)
        }
        let missing = try await check([:])
        #expect(missing.ending == .exit(1))
        #expect(missing.output.contains { $0.contains("set privacy.hashKeyFile or SLUICE_PRIVACY_HASH_KEY") })
        let serve = try await Sluice.run("serve", "--events", "plan", "--listen", "127.0.0.1:0", in: folder)
        #expect(serve.ending == .exit(1))
        #expect(serve.errors.contains { $0.contains("set privacy.hashKeyFile or SLUICE_PRIVACY_HASH_KEY") })
        for (environment, problem) in [
            (
                ["SLUICE_PRIVACY_HASH_KEY": "secret"],
                "SLUICE_PRIVACY_HASH_KEY: expected a key of at least 16 bytes, found 6"
            ),
            (
                ["SLUICE_PRIVACY_HASH_KEY_FILE": "short.key"],
                "SLUICE_PRIVACY_HASH_KEY_FILE: expected a key of at least 16 bytes, found 5"
            ),
            (["SLUICE_PRIVACY_HASH_KEY_FILE": "none"], "SLUICE_PRIVACY_HASH_KEY_FILE: the file 'none' cannot be read"),
            (
                ["SLUICE_PRIVACY_HASH_KEY": Self.key, "SLUICE_PRIVACY_HASH_KEY_FILE": "short.key"],
                "SLUICE_PRIVACY_HASH_KEY: set only one of privacy.hashKey and privacy.hashKeyFile"
            ),
        ] {
            let run = try await check(environment)
            #expect(run.ending != .exit(0))
            #expect(run.errors.contains { $0.contains(problem) }, "\(run.errors)")
            #expect(!run.errors.joined().contains("secret") && !run.errors.joined().contains(Self.key))
        }
        #expect(try await check(["SLUICE_PRIVACY_HASH_KEY": Self.key]).ending == .exit(0))
    }
}
