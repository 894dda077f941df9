import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("sluice and programs that are trackers", .timeLimit(.minutes(5)))
struct ExecTrackerTests {
    private static func example(_ name: String) -> String { RepositoryFile.url("Examples/exec/\(name)").path }

    /// Reads the lines of a delivery.
    private static let readLines = #"head -c "$(expr "$header" : '.*"bytes":\([0-9]*\)')" >/dev/null"#

    private static let answer = #"printf '{"delivery":%s}\n' "$(expr "$header" : '{"delivery":\([0-9]*\)')""#

    private static let plan = """
        <plist><dict><key>events</key><dict><key>Song Played</key><dict>
        <key>registeredTrackers</key><array><string>crm</string></array>
        <key>payload</key><dict><key>number</key><string>integer</string></dict>
        </dict></dict></dict></plist>
        """

    @Test("exec-test finds that the examples keep every promise", arguments: ["append.py", "append.sh"])
    func examples(name: String) async throws {
        let folder = try TestFolder()
        // Complete lines only: a program that was killed may have left a part of one. `sed` would take minutes for these events.
        let ids = #"LC_ALL=C grep -a '}$' events | cut -d'"' -f4"#
        let run = try await Sluice.run(
            "exec-test",
            "--delivered",
            ids,
            "--",
            Self.example(name),
            folder.path("events"),
            in: folder
        )
        #expect(run.ending == .exit(0), "\(run.output) \(run.errors)")
        #expect(run.output.count == 11)
        #expect(run.output.allSatisfy { $0.hasPrefix("kept:") })
    }

    @Test(
        "exec-test names the promises that a program breaks",
        arguments: [
            ("cat", 9),
            // Answers as soon as it has the header; also the deliveries that a pipe does not hold.
            ("while read -r header; do \(answer); \(readLines); done", 3),
            // Takes only two deliveries.
            (
                "n=0; while read -r header; do n=$((n + 1)); [ $n -lt 3 ] || exit 1; \(readLines); \(answer); done",
                2
            ),
        ]
    )
    func broken(script: String, count: Int) async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run("exec-test", "--", "sh", "-c", script, in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.output.count { $0.hasPrefix("broken:") } == count, "\(run.output)")
        #expect(run.errors.last?.hasSuffix("broken.") == true)
    }

    @Test("exec-test says so if the command of --delivered prints anything else than ids")
    func otherThanIDs() async throws {
        let folder = try TestFolder()
        let program = [Self.example("append.sh"), folder.path("events")]
        let run = try await Sluice.run(["exec-test", "--delivered", "echo no id", "--"] + program, in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors.last?.contains("'no id'") == true, "\(run.errors)")
    }

    @Test(
        "every acknowledged event reaches the program, however often sluice is killed, and no process is left",
        .promise("killed-process")
    )
    func killed() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "plan.plist")
        let script = #"echo $$ >>processes; exec \#(Self.example("append.sh")) delivered"#
        try folder.write("trackers: { crm: { type: exec, command: [/bin/sh, -c, '\(script)'] } }", to: "sluice.yaml")
        let options = ["--config", "sluice.yaml", "--journal", "journal", "--no-admin"]
        var acknowledged = Set<Int>()
        for round in 0..<10 {
            let server = try await ServingSluice.start(options, in: folder, plan: plan)
            for number in round * 20..<round * 20 + 20 {
                let answer = try await server.post(#"{"name":"Song Played","payload":{"number":\#(number)}}"#)
                if answer.status == 200 { acknowledged.insert(number) }
            }
            server.process.send(round == 9 ? SIGTERM : SIGKILL)
            #expect(try await server.process.waitForEnd() == (round == 9 ? .exit(0) : .signal(SIGKILL)))
        }
        #expect(acknowledged.count == 200)
        let lines = folder.lines(of: "delivered")
        let delivered = lines.compactMap { $0.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) } }
        #expect(Set(delivered) == acknowledged)
        let processes = folder.lines(of: "processes").compactMap { pid_t($0) }
        #expect(processes.count >= 10)
        // A killed process may take a moment to end; one that was left behind never would.
        for process in processes { while isRunning(process) { try await waitBriefly() } }
    }

    @Test("an event with which the program ends is parked, and the others are delivered")
    func poison() async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "plan.plist")
        let script =
            #"while read -r header; do "#
            + #"head -c "$(expr "$header" : '.*"bytes":\([0-9]*\)')" >part; if grep -q '"number":7}' part; then exit 1; fi; "#
            + #"cat part >>delivered; \#(Self.answer); done"#
        try folder.write(script, to: "program.sh")
        try folder.write(
            "{ trackers: { crm: { type: exec, command: [/bin/sh, program.sh] } }, delivery: { parkAfterSeconds: 1 } }",
            to: "sluice.yaml"
        )
        let options = ["--config", "sluice.yaml", "--journal", "journal", "--no-admin"]
        let server = try await ServingSluice.start(options, in: folder, plan: plan)
        for number in 0..<20 {
            let answer = try await server.post(#"{"name":"Song Played","payload":{"number":\#(number)}}"#)
            #expect(answer.status == 200)
        }
        try await folder.waitForQuarantined(1)
        #expect(folder.quarantined().first?.contains(#""number":7"#) == true)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let delivered = folder.lines(of: "delivered").compactMap {
            $0.firstMatch(of: /"number":(\d+)/).flatMap { Int($0.1) }
        }
        #expect(Set(delivered) == Set(0..<20).subtracting([7]))
    }

    @Test("config check warns of a secret in a command, and config show hides the values of variables")
    func secrets() async throws {
        let folder = try TestFolder()
        try folder.write(
            "trackers: { crm: { type: exec, command: [to-crm, --token, abc], environment: [REGION=eu, HOME] } }",
            to: "sluice.yaml"
        )
        let check = try await Sluice.run("config", "check", "--config", "sluice.yaml", in: folder)
        #expect(check.ending == .exit(0))
        #expect(check.output.first?.contains("argument 2 seems to be a secret") == true)
        #expect(check.output.first?.contains("abc") == false)
        try folder.write(
            "trackers:\n  crm: { type: exec, command: [x], environment: [1A=b], environmentFiles: [B] }\n  b: { type: exec, command: [] }",
            to: "wrong.yaml"
        )
        let wrong = try await Sluice.run("config", "check", "--config", "wrong.yaml", in: folder)
        #expect(wrong.ending == .exit(1))
        #expect(
            wrong.output.map { $0.replacing(#/ \[.*/#, with: "") } == [
                "wrong.yaml:2:49: error: trackers.crm.environment: '1A' is not a valid name of an environment variable",
                "wrong.yaml:2:75: error: trackers.crm.environmentFiles: 'B' is not of the form NAME=path",
                "wrong.yaml:3:29: error: trackers.b.command: expected a program and its arguments",
            ]
        )
        let shown = try await Sluice.run("config", "show", "--config", "sluice.yaml", in: folder)
        #expect(shown.output.contains { $0.contains("trackers.crm.environment ") && $0.contains("REGION=***; HOME") })
        #expect(shown.output.contains { $0.contains("trackers.crm.command ") && $0.contains("to-crm; --token; ***") })
    }
}
