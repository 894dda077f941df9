import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("sluice and webhooks", .timeLimit(.minutes(5)))
struct WebhookTests {
    private static func plan(tracker: String, _ names: String...) -> String {
        let events = names.map { name in
            """
            <key>\(name)</key><dict>
            <key>registeredTrackers</key><array><string>\(tracker)</string></array>
            <key>payload</key><dict><key>number</key><string>integer</string></dict>
            </dict>
            """
        }
        return "<plist><dict><key>events</key><dict>\(events.joined())</dict></dict></plist>"
    }

    private static func event(_ number: Int, _ name: String = "Song Played") -> String {
        #"{"name":"\#(name)","payload":{"number":\#(number)}}"#
    }

    private static func numbers(_ text: String) -> [Int] {
        text.matches(of: /"number":(\d+)/).compactMap { Int($0.1) }
    }

    @Test(
        "every acknowledged event arrives or is in the quarantine, however often sluice is killed, and each request is signed",
        .promise("killed-process")
    )
    func killed() async throws {
        let (folder, receiver) = (try TestFolder(), try await WebhookReceiver())
        let plan = try folder.write(Self.plan(tracker: "partner", "Song Played"), to: "plan.plist")
        let secret = "whsec_" + Data("a secret of at least 24 bytes".utf8).base64EncodedString()
        try folder.write("\(secret)\n", to: "key")
        try folder.write(
            """
            trackers:
              partner: { type: webhook, url: "\(receiver.url)/", signingKeyFile: key, format: json, compression: gzip }
            """,
            to: "sluice.yaml"
        )
        try receiver.setMode("refuse 422 \"number\":7}")
        let options = ["--config", "sluice.yaml", "--journal", "journal", "--no-admin"]
        for round in 0..<10 {
            let server = try await ServingSluice.start(options, in: folder, plan: plan)
            for number in round * 20..<round * 20 + 20 {
                #expect(try await server.post(Self.event(number)).status == 200)
            }
            if round == 4 { receiver.stop() }
            if round == 6 { try await receiver.restart() }
            if round == 9 {
                try await folder.waitForQuarantined(1)
                while Set(try receiver.requests.flatMap { Self.numbers($0.body) }).count < 199 {
                    try await waitBriefly()
                }
            }
            server.process.send(round == 9 ? SIGTERM : SIGKILL)
            #expect(try await server.process.waitForEnd() == (round == 9 ? .exit(0) : .signal(SIGKILL)))
        }
        let delivered = try receiver.requests.flatMap { Self.numbers($0.body) }
        #expect(Set(delivered) == Set(0..<200).subtracting([7]))
        let refused = try #require(folder.quarantined().first)
        #expect(refused.contains(#""number":7"#) && refused.contains("status 422: the event has"))
        let verified = try await ClientScript.run("webhook_signatures", [receiver.requestsFile, secret], in: folder)
        #expect(verified == ["\(try receiver.requests.count)"])
    }

    @Test(
        "every acknowledged event is in the central Sluice's PostgreSQL once, whichever side is killed",
        .promise("killed-process")
    )
    func forwarded() async throws {
        let (folder, database) = (try TestFolder(), try await PrivatePostgres.shared().makeDatabase())
        let centrePlan = try folder.write(Self.plan(tracker: "postgres", "Song Played"), to: "centre/plan.plist")
        let plan = try folder.write(Self.plan(tracker: "centre", "Song Played", "Song Skipped"), to: "plan.plist")
        let migration = try await Sluice.run(
            ["migrate", "--events", centrePlan, "--postgres", database.url],
            in: folder
        )
        #expect(migration.ending == .exit(0))
        let key = try await Sluice.run("keys", "new", "edge", "--keys", "centre/keys.json", in: folder)
        #expect(key.ending == .exit(0), "\(key.errors)")
        let words = key.output.flatMap { $0.split(separator: " ") }
        try folder.write("\(words.max { $0.count < $1.count } ?? "")\n", to: "key")
        let centreOptions = [
            "serve", "--events", centrePlan, "--journal", "centre/journal", "--quarantine", "centre/quarantine",
            "--no-admin",
            "--no-console", "--postgres", database.url, "--keys", "centre/keys.json", "--listen",
        ]
        var centre = try SluiceProcess(centreOptions + ["127.0.0.1:0"], in: folder)
        let line = try await centre.errors.line(containing: "The server accepts events.")
        let address = String(try #require(line.firstMatch(of: /url=http:\/\/([^\/]+)\/v1\/events/)?.1))
        try folder.write(
            "trackers: { centre: { type: sluice, url: 'http://\(address)', writeKeyFile: key, concurrency: 2 } }",
            to: "sluice.yaml"
        )
        let options = ["--config", "sluice.yaml", "--journal", "journal", "--no-admin", "--no-console"]
        var edge = try await ServingSluice.start(options, in: folder, plan: plan)
        for round in 0..<10 {
            for number in round * 20..<round * 20 + 20 {
                #expect(try await edge.post(Self.event(number)).status == 200)
            }
            if round.isMultiple(of: 2) {
                edge.process.send(SIGKILL)
                #expect(try await edge.process.waitForEnd() == .signal(SIGKILL))
                edge = try await ServingSluice.start(options, in: folder, plan: plan)
            } else {
                centre.send(SIGKILL)
                #expect(try await centre.waitForEnd() == .signal(SIGKILL))
                centre = try SluiceProcess(centreOptions + [address], in: folder)
                _ = try await centre.errors.line(containing: "The server accepts events.")
            }
        }
        #expect(try await edge.post(Self.event(200, "Song Skipped")).status == 200)
        try await folder.waitForQuarantined(1)
        let query = "select number from analytics.song_played order by number"
        while try await database.run(query).count < 200 { try await waitBriefly() }
        edge.process.send(SIGTERM)
        #expect(try await edge.process.waitForEnd() == .exit(0))
        centre.send(SIGTERM)
        #expect(try await centre.waitForEnd() == .exit(0))
        #expect(try await database.run(query) == (0..<200).map { "\($0)" })
        let refused = try #require(folder.quarantined().first)
        #expect(refused.contains("unknown-event at $.name"))
    }

    @Test("config check finds what is wrong, with its place, and config show hides what is secret")
    func settings() async throws {
        let folder = try TestFolder()
        try folder.write(
            """
            trackers:
              a: { type: webhook, url: "ftp://a" }
              b: { type: webhook, url: "http://a", headers: ["Host: b"], concurrency: 0 }
              c: { type: sluice, url: "http://user:password@a" }
              d: { type: webhook, url: "http://a", certificateFile: x }
              e: { type: webhook, url: "http://a", format: xml, headerFiles: [X] }
            """,
            to: "wrong.yaml"
        )
        let wrong = try await Sluice.run("config", "check", "--config", "wrong.yaml", in: folder)
        #expect(wrong.ending == .exit(1))
        #expect(
            wrong.output.map { $0.replacing(#/ \[.*/#, with: "") } == [
                "wrong.yaml:2:28: error: trackers.a.url: expected an address that begins with http:// or https://",
                "wrong.yaml:3:49: error: trackers.b.headers: the field 'Host' is written by the tracker",
                "wrong.yaml:3:75: error: trackers.b.concurrency: expected a whole number from 1 to 1000, found 0",
                "wrong.yaml:4:27: error: trackers.c.url: the address contains a password, which belongs in a file",
                "wrong.yaml:5:57: error: trackers.d.certificateFile: set both trackers.d.certificateFile and trackers.d.keyFile",
                "wrong.yaml:6:48: error: trackers.e.format: expected one of ndjson, json, cloudevents, single, found 'xml'",
                "wrong.yaml:6:66: error: trackers.e.headerFiles: 'X' is not of the form Name=path",
            ]
        )
        try folder.write(
            "trackers: { a: { type: webhook, url: 'http://a/?token=abc', headers: ['X-Key: abc'] } }",
            to: "sluice.yaml"
        )
        let shown = try await Sluice.run("config", "show", "--config", "sluice.yaml", in: folder)
        #expect(shown.output.contains { $0.contains("trackers.a.url ") && $0.contains("http://a/***") })
        #expect(shown.output.contains { $0.contains("trackers.a.headers ") && $0.contains("X-Key: ***") })
        #expect(!shown.output.contains { $0.contains("abc") })
    }
}
