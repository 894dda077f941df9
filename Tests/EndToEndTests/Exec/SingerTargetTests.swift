import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("sluice and Singer targets", .timeLimit(.minutes(5)))
struct SingerTargetTests {
    private static func plan(_ trackers: String...) -> String {
        """
        <plist><dict><key>events</key><dict><key>Item Sold</key><dict>
        <key>registeredTrackers</key><array>\(trackers.map { "<string>\($0)</string>" }.joined())</array>
        <key>payload</key><dict>
        <key>quantity</key><string>integer</string><key>price</key><string>decimal</string>
        </dict></dict></dict></dict></plist>
        """
    }

    private static func events(_ numbers: Range<Int>) -> String {
        numbers.map { number in
            #"{"name":"Item Sold","payload":{"quantity":\#(number),"price":"\#(number).\#(number % 90 + 10)"}}"#
        }.joined(separator: "\n")
    }

    /// Writes the settings with the PostgreSQL tracker and the target, each with a database, and what runs the target.
    private static func writeFiles(to folder: TestFolder, own: TestDatabase, other: TestDatabase) throws {
        try folder.write(Self.plan("postgres", "lake"), to: "events/shop.plist")
        let url = other.url.replacing("postgres://", with: "postgresql+psycopg://")
        try folder.write(
            #"{"sqlalchemy_url":"\#(url)","default_target_schema":"public","flattening_enabled":true,"flattening_max_depth":1}"#,
            to: "target.json"
        )
        // In these modes, a run is in progress until it is killed: it has stored nothing, or everything without saying so.
        try folder.write(
            """
            echo $$ >>processes
            case "$(cat mode)" in
            before) echo started >>announced; exec tail -f /dev/null ;;
            after) "$1" --config target.json >state; echo stored >>announced; exec tail -f /dev/null ;;
            esac
            exec "$1" --config target.json
            """,
            to: "target.sh"
        )
        try folder.write("run", to: "mode")
        try folder.write(
            """
            postgres: { url: "\(own.url)" }
            trackers:
              lake:
                type: exec
                protocol: singer
                command: [/bin/sh, target.sh, \(try SingerTarget.path("target-postgres"))]
                delivery: { lingerMilliseconds: 200 }
            """,
            to: "sluice.yaml"
        )
    }

    @Test(
        "target-postgres has the same events as the PostgreSQL tracker, also if sluice is killed during a run, and no process is left",
        .promise("killed-process")
    )
    func postgres() async throws {
        let server = try await PrivatePostgres.shared()
        let (own, other) = (try await server.makeDatabase(), try await server.makeDatabase())
        let folder = try TestFolder()
        try Self.writeFiles(to: folder, own: own, other: other)
        let config = ["--config", "sluice.yaml"]
        let migration = try await Sluice.run(["migrate"] + config, in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        let check = try await Sluice.run(["check", "--timeout", "60"] + config, in: folder)
        #expect(check.output.contains { $0.hasPrefix("lake: ok") }, "\(check.output)")
        #expect(try await other.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == ["0"])

        for (round, mode) in ["before", "after", "run"].enumerated() {
            try folder.write(mode, to: "mode")
            let server = try await ServingSluice.start(config + ["--no-admin"], in: folder, plan: "events")
            let body = Self.events(round * 100..<round * 100 + 100)
            #expect(try await server.post(body, type: "application/x-ndjson").status == 200)
            if round == 2 {
                // The target makes the table.
                while (try? await other.run("SELECT count(*) FROM item_sold")) != ["300"] {
                    try await waitBriefly()
                }
            } else {
                while folder.lines(of: "announced").count <= round { try await waitBriefly() }
            }
            server.process.send(round == 2 ? SIGTERM : SIGKILL)
            #expect(try await server.process.waitForEnd() == (round == 2 ? .exit(0) : .signal(SIGKILL)))
        }
        #expect(folder.lines(of: "announced") == ["started", "stored"])
        let processes = folder.lines(of: "processes").compactMap { pid_t($0) }
        #expect(processes.count >= 4)
        // A killed process may take a moment to end; one that was left behind never would.
        for process in processes { while isRunning(process) { try await waitBriefly() } }
        let facts =
            "count(*), sum(%quantity), trim_scale(sum(%price)), md5(string_agg(id::text, ' ' ORDER BY id::text))"
        let expected = try await own.run("SELECT \(facts.replacing("%", with: "")) FROM analytics.item_sold")
        #expect(expected.first?.hasPrefix("300|44850|") == true)
        #expect(try await other.run("SELECT \(facts.replacing("%", with: "payload__")) FROM item_sold") == expected)
    }

    @Test("an event with which a target fails is parked, and the others are delivered")
    func poison() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan("lake"), to: "plan.plist")
        try folder.write(
            #"""
            cat >input
            if grep -q '"quantity":7,' input; then exit 1; fi
            grep '^{"type":"RECORD"' input >>delivered
            sed -n '$s/^{"type":"STATE","value":\(.*\)}$/\1/p' input
            """#,
            to: "target.sh"
        )
        try folder.write(
            """
            delivery: { parkAfterSeconds: 1, lingerMilliseconds: 50 }
            trackers: { lake: { type: exec, protocol: singer, command: [/bin/sh, target.sh] } }
            """,
            to: "sluice.yaml"
        )
        let options = ["--config", "sluice.yaml", "--journal", "journal", "--no-admin"]
        let server = try await ServingSluice.start(options, in: folder, plan: plan)
        #expect(try await server.post(Self.events(0..<20), type: "application/x-ndjson").status == 200)
        try await folder.waitForQuarantined(1)
        #expect(folder.quarantined().first?.contains(#""quantity":7,"#) == true)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let delivered = folder.lines(of: "delivered").compactMap {
            $0.firstMatch(of: /"quantity":(\d+)/).flatMap { Int($0.1) }
        }
        #expect(Set(delivered) == Set(0..<20).subtracting([7]))
    }

    @Test("exec-test says that it does not test a Singer target")
    func contract() async throws {
        let folder = try TestFolder()
        try folder.write("trackers: { lake: { type: exec, protocol: singer, command: [x] } }", to: "sluice.yaml")
        let run = try await Sluice.run("exec-test", "--config", "sluice.yaml", "--tracker", "lake", in: folder)
        #expect(run.ending == .exit(64))
        #expect(
            run.errors.first
                == "Error: The tracker 'lake' has the protocol singer, which this does not test; use 'sluice check'."
        )
    }
}
