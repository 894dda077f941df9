import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("sluice and receivers of lines", .timeLimit(.minutes(5)))
struct SocketTrackerTests {
    private static let plan = """
        <plist><dict><key>events</key><dict><key>Song Played</key><dict>
        <key>registeredTrackers</key><array><string>logs</string></array>
        <key>payload</key><dict><key>number</key><string>integer</string></dict>
        </dict></dict></dict></plist>
        """

    private static func numbers(in lines: [String]) -> [Int] {
        lines.compactMap { $0.firstMatch(of: /"number":(\d+)}}$/).flatMap { Int($0.1) } }
    }

    @Test(
        "every acknowledged event reaches a receiver that reads, however often both are interrupted",
        .promise("killed-process")
    )
    func killed() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "plan.plist")
        try folder.write("secret\n", to: "token")
        let receiver = try LineReceiver()
        try folder.write(
            """
            trackers:
              logs:
                type: socket
                url: \(receiver.url)
                format: logstash
                fields: [service=shop]
                fieldFiles: [token=token]
            """,
            to: "sluice.yaml"
        )
        let options = ["--config", "sluice.yaml", "--journal", "journal", "--no-admin"]
        var acknowledged = Set<Int>()
        for round in 0..<5 {
            let server = try await ServingSluice.start(options, in: folder, plan: plan)
            for number in round * 20..<round * 20 + 20 {
                if number % 7 == 3 { receiver.closeConnections() }
                let answer = try await server.post(#"{"name":"Song Played","payload":{"number":\#(number)}}"#)
                if answer.status == 200 { acknowledged.insert(number) }
            }
            server.process.send(round == 4 ? SIGTERM : SIGKILL)
            #expect(try await server.process.waitForEnd() == (round == 4 ? .exit(0) : .signal(SIGKILL)))
        }
        #expect(acknowledged.count == 100)
        #expect(Set(Self.numbers(in: receiver.lines)) == acknowledged)
        #expect(
            receiver.lines.allSatisfy { $0.contains(#"Z","@version":"1","service":"shop","token":"secret","id":""#) }
        )
    }

    @Test("check connects to a receiver, and says why it cannot")
    func check() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "plan.plist")
        let receiver = try LineReceiver()
        try folder.write("trackers: { logs: { type: socket, url: '\(receiver.url)' } }", to: "sluice.yaml")
        let options = ["check", "--config", "sluice.yaml", "--events", plan]
        let good = try await Sluice.run(options, in: folder)
        #expect(good.ending == .exit(0), "\(good.output) \(good.errors)")
        #expect(receiver.connectionCount == 1)
        #expect(receiver.lines.isEmpty)
        receiver.disappear()
        let bad = try await Sluice.run(options, in: folder)
        #expect(bad.ending == .exit(1))
        let said = (bad.output + bad.errors).joined(separator: "\n")
        #expect(said.contains("The receiver cannot be reached: Connection refused."))
    }

    @Test("config check finds what is wrong with a receiver, and config show hides the values of fields")
    func settings() async throws {
        let folder = try TestFolder()
        try folder.write(
            """
            trackers:
              a: { type: socket, url: "tcp://user:secret@localhost:5000" }
              b: { type: socket, url: "tcp://localhost:5000", caFile: ca.pem }
              c: { type: socket, url: "tls://localhost:5000", keyFile: key.pem, fields: [id=secret, x] }
              d: { type: socket, url: "tls://localhost:5000", format: json }
              e: { type: socket, format: logstash }
            """,
            to: "wrong.yaml"
        )
        let wrong = try await Sluice.run("config", "check", "--config", "wrong.yaml", in: folder)
        #expect(wrong.ending == .exit(1))
        #expect(
            wrong.output == [
                "wrong.yaml:2:27: error: trackers.a.url: expected tcp://host:port or tls://host:port, with an IPv6 address in"
                    + " brackets [invalid-value]",
                "wrong.yaml:3:59: error: trackers.b.caFile: only a url with tls:// needs it [conflicting-settings]",
                "wrong.yaml:4:60: error: trackers.c.keyFile: needs certificateFile as well [missing-setting]",
                "wrong.yaml:4:77: error: trackers.c.fields: there is another member with the name 'id'; choose another name"
                    + " [invalid-value]",
                "wrong.yaml:4:77: error: trackers.c.fields: entry 2 is not of the form name=value [invalid-value]",
                "wrong.yaml:5:59: error: trackers.d.format: expected one of canonical, logstash, found 'json' [invalid-value]",
                "wrong.yaml:6:3: error: the tracker 'e' needs trackers.e.url [missing-setting]",
            ]
        )
        try folder.write(
            "trackers: { logs: { type: socket, url: 'tls://localhost:5000', fields: [service=shop] } }",
            to: "sluice.yaml"
        )
        let shown = try await Sluice.run("config", "show", "--config", "sluice.yaml", in: folder)
        #expect(shown.output.contains { $0.contains("trackers.logs.fields ") && $0.contains("service=***") })
        #expect(!shown.output.contains { $0.contains("shop") })
    }
}
