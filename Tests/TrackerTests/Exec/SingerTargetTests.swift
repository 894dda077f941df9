import EventModel
import EventSchema
import EventValidation
import Foundation
import PipelineTestSupport
import ServerTestSupport
import SluiceExec
import SluiceTesting
import TestSupport
import Testing
import TrackerKit

/// Targets of Singer, as scripts and as others have written them.
enum SingerTarget {
    /// A script that appends the canonical lines to `events`, and prints the state.
    static let script = #"""
        cat >"$1/input"
        sed -n 's/^{"type":"RECORD","stream":"[^"]*","record":\(.*\),"time_extracted":"[^"]*"}$/\1/p' "$1/input" >>"$1/events"
        sed -n '$s/^{"type":"STATE","value":\(.*\)}$/\1/p' "$1/input"
        """#

    /// A program that `make setup-test` installs.
    static func installed(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
        let program = root.appending(path: ".run/\(name)/bin/\(name)").path
        try #require(
            FileManager.default.isExecutableFile(atPath: program),
            "\(name) is not installed: run `make setup-test`"
        )
        return program
    }

    /// The command of target-jsonl, which appends all events to the file `events.jsonl` of a folder.
    static func jsonl(in folder: ProgramFolder) throws -> [String] {
        let settings =
            ["destination_path": folder.path(""), "custom_name": "events", "do_timestamp_file": false] as [String: Any]
        let config = try JSONSerialization.data(withJSONObject: settings)
        try folder.write(String(decoding: config, as: UTF8.self), to: "config.json")
        return [try installed("target-jsonl"), "--config", folder.path("config.json")]
    }
}

@Suite("A Singer target that delivers events", .timeLimit(.minutes(5)))
struct SingerTargetTests {
    private static func tracker(
        _ folder: ProgramFolder,
        _ script: String,
        logger: RecordingLog? = nil,
        _ change: (inout ExecConfiguration) -> Void = { _ in }
    ) -> ExecTracker {
        folder.tracker(script: script, logger: logger?.logger ?? ProgramFolder.silent) {
            $0.protocol = .singer
            change(&$0)
        }
    }

    @Test("is run for each delivery, with the canonical lines")
    func deliveries() async throws {
        let folder = try ProgramFolder()
        let tracker = Self.tracker(folder, "echo started >>\"$1/starts\"\n" + SingerTarget.script)
        try await tracker.start(for: ExecEvents.catalog)
        #expect(folder.text("starts").isEmpty)
        for count in [3, 1, 10_000] {
            let outcome = await tracker.deliver(ExecEvents.delivery(count))
            #expect(outcome.retry == nil && outcome.refusals.isEmpty)
        }
        await tracker.stop()
        let lines = ExecEvents.delivery(10_000).map { $0.json + "\n" }
        #expect(folder.text("events") == (lines.prefix(3) + lines.prefix(1) + lines).joined())
        #expect(folder.text("starts") == "started\nstarted\nstarted\n")
    }

    @Test("wants far more events at a time than a program that is kept")
    func limits() {
        let singer: ExecTracker = .exec(["target"], protocol: .singer)
        let limits = DeliveryLimits(maximumEvents: 100_000, maximumBytes: 32 << 20, linger: .seconds(30))
        #expect(singer.deliveryLimits == limits)
        #expect(ExecTracker.exec(["program"]).deliveryLimits == nil)
        #expect(ExecConfiguration(command: [], protocol: .singer).timeout == .seconds(900))
        #expect(ExecConfiguration(command: []).timeout == .seconds(60))
    }

    /// What a target may do instead of confirming a delivery, and how that is reported.
    static let failures: [(script: String, code: TrackerError.Code, message: String)] = [
        ("exit 3", .failed, ended("exit status 3")),
        ("kill -9 $$", .failed, ended("signal 9")),
        (SingerTarget.script + "\nexit 1", .failed, ended("exit status 1")),
        ("cat >/dev/null", .failed, notConfirmed),
        ("exit 0", .failed, notConfirmed),
        ("exec <&-; exec >&-", .failed, notConfirmed),
        ("exec >&-; cat >/dev/null", .failed, notConfirmed),
        (SingerTarget.script + "\necho done", .failed, notConfirmed),
        ("cat >/dev/null\n" + #"echo '{"tracker":"exec","run":"1","delivery":1}'"#, .failed, notConfirmed),
        ("cat >/dev/null\ntr '\\0' 'x' </dev/zero", .failed, tooMuch),
        ("yes", .failed, tooMuch),
        ("tail -f /dev/null", .timeout, timeout),
        ("exec <&- ; tail -f /dev/null", .timeout, timeout),
        ("trap '' TERM; cat >/dev/null; tail -f /dev/null", .timeout, timeout),
        (SingerTarget.script + "\nexec >/dev/null; tail -f /dev/null", .timeout, timeout),
    ]

    private static func ended(_ end: String) -> String {
        "The program ended with \(end) instead of confirming the delivery."
    }

    private static let notConfirmed =
        "The program ended, but the last line of its output was not the state of the delivery, which a Singer target prints."
    private static let tooMuch = "The program wrote too much to standard output, so Sluice terminated it."
    private static let timeout = "The program did not answer in time, so Sluice terminated it."

    @Test("that does not confirm a delivery is run again for it", arguments: failures.indices)
    func failing(index: Int) async throws {
        let (script, code, message) = Self.failures[index]
        let folder = try ProgramFolder()
        let working = "if [ -e \"$1/works\" ]; then\n\(SingerTarget.script)\nexit\nfi\n"
        // A busy machine may take long for what comes.
        let failing = Self.tracker(folder, working + script) {
            $0.timeout = code == .timeout ? .seconds(1) : .seconds(60)
            $0.grace = .milliseconds(100)
        }
        // More than the pipe has room for.
        let delivery = ExecEvents.delivery(10_000)
        for _ in 0..<2 {
            let outcome = await failing.deliver(delivery)
            #expect(outcome.retry?.positions == nil && outcome.retry?.reason.code == code, "\(script)")
            #expect(outcome.retry?.reason.message == message, "\(script)")
            #expect(outcome.retry?.reason.isRetryable == true)
        }
        await failing.stop()
        try folder.write("", to: "works")
        try? folder.remove("events")
        let again = Self.tracker(folder, working + script)
        #expect(await again.deliver(delivery).retry == nil, "\(script)")
        #expect(folder.ids(in: "events") == delivery.map(\.id))
        await again.stop()
    }

    @Test("that fails is reported with its end and the last lines of its standard error")
    func report() async throws {
        let folder = try ProgramFolder()
        let log = RecordingLog()
        let tracker = Self.tracker(folder, "echo 'no such account' >&2; exit 4", logger: log)
        #expect(await tracker.deliver(ExecEvents.delivery(1)).retry != nil)
        await tracker.stop()
        let report = try #require(log.all.first { $0.hasPrefix("The program has failed") })
        #expect(report.contains("end=exit status 4 ") && report.contains("no such account"))
    }

    @Test("is ended with the processes that it has started, also if they keep its output open")
    func leftBehind() async throws {
        let folder = try ProgramFolder()
        let tracker = Self.tracker(folder, "tail -f /dev/null & echo $! >\"$1/process\"\n" + SingerTarget.script)
        #expect(await tracker.deliver(ExecEvents.delivery(100)).retry == nil)
        let process = try #require(pid_t(folder.text("process").trimmingCharacters(in: .whitespacesAndNewlines)))
        // A killed process may still take a moment to end; one that was left behind never would.
        while isRunning(process) { try await waitBriefly() }
        await tracker.stop()
    }

    @Test("is checked with a state only, so that it makes no tables")
    func check() async throws {
        let folder = try ProgramFolder()
        let outline = PipelineOutline(catalog: ExecEvents.catalog, hasJournal: false)
        let working = Self.tracker(folder, SingerTarget.script)
        #expect(await working.problems(in: outline).isEmpty)
        await working.stop()
        let input = folder.text("input")
        #expect(
            input.hasPrefix(#"{"type":"STATE","value":{"tracker":"exec","run":""#) && input.count { $0 == "\n" } == 1
        )
        let log = RecordingLog()
        let failing = Self.tracker(folder, "echo 'no such account' >&2; exit 4", logger: log)
        #expect(
            await failing.problems(in: outline).map(\.message) == [
                Self.ended("exit status 4")
                    + " Its end: exit status 4. Its last line on standard error: no such account"
            ]
        )
        await failing.stop()
        #expect(log.all.contains { $0.hasPrefix("The program has failed during the check.") })
    }

    @Test("that cannot be started is reported when the tracker starts")
    func missing() async throws {
        let folder = try ProgramFolder()
        try folder.write("not a program", to: "text")
        for (command, directory, sentence) in [
            ("/nowhere/target", nil, "The program '/nowhere/target' cannot be started: No such file or directory."),
            (folder.path("text"), nil, "The program '\(folder.path("text"))' cannot be started: Permission denied."),
            ("./text", folder.path(""), "The program './text' cannot be started: Permission denied."),
            (
                "no-such-target", nil,
                "The program 'no-such-target' was not found in PATH; install it, or state its path."
            ),
        ] {
            let tracker = Self.tracker(folder, "") {
                $0.command = [command]
                $0.workingDirectory = directory
            }
            let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: ExecEvents.catalog) }
            #expect(error?.code == .notPrepared && error?.message == sentence)
            await tracker.stop()
        }
    }

    @Test("does not get an event with a decimal that is too long for a number, which is refused")
    func refusal() async throws {
        let location = PlanLocation(file: "plan.plist", line: 1, column: 1)
        let price = PropertyDefinition(name: "price", type: .decimal, location: location)
        let event = EventDefinition(key: "Sold", trackers: ["exec"], properties: [price], location: location)
        let catalog = EventCatalog(plan: TrackingPlan(events: [event]))
        let events = ["1.5", "0.0123456789", "2"].enumerated().map { number, price in
            ScriptedEvent("Sold", number: number, payload: #"{"price":"\#(price)"}"#)
        }
        let delivery = Delivery([EventSlice(.scripted(catalog: catalog, events: events))])
        let folder = try ProgramFolder()
        let tracker = Self.tracker(folder, SingerTarget.script) { $0.decimals = .numbers }
        let outcome = await tracker.deliver(delivery)
        await tracker.stop()
        #expect(outcome.retry == nil && outcome.refusals.map(\.position) == [1])
        #expect(outcome.refusals.first?.reason.contains("exec.singer.decimals") == true)
        #expect(folder.text("events").matches(of: /"price":([0-9.]+)\}/).map { String($0.1) } == ["1.5", "2"])
    }

    @Test("gets every event exactly as in the delivery, if it is target-jsonl", arguments: SingerDecimals.allCases)
    func jsonl(decimals: SingerDecimals) async throws {
        let location = PlanLocation(file: "plan.plist", line: 1, column: 1)
        func property(_ name: String, _ type: PropertyType) -> PropertyDefinition {
            PropertyDefinition(name: name, type: type, location: location)
        }
        let properties = PropertyType.allCases.map { property($0.rawValue, $0) }
        let event = EventDefinition(key: "All Kinds", trackers: ["exec"], properties: properties, location: location)
        let catalog = EventCatalog(plan: TrackingPlan(events: [event]))
        let payload = #"""
            {"string":"Zoë \"50 %\"\n🙂","integer":9007199254740993,"number":0.5,"decimal":"1234567890.123456789","boolean":true,"timestamp":"2026-01-01T00:00:00.123Z","date":"2026-02-28","uuid":"01900000-0000-7000-8000-000000000000","array":[1,"a",null],"object":{"a":{"b":[]}},"any":{"c":1}}
            """#
        let events = (0..<100).map { ScriptedEvent("All Kinds", number: $0, payload: $0 % 3 == 0 ? "{}" : payload) }
        let folder = try ProgramFolder()
        var exec = ExecConfiguration(command: try SingerTarget.jsonl(in: folder), protocol: .singer)
        exec.decimals = decimals
        let tracker = ExecTracker(exec, logger: ProgramFolder.silent)
        let delivery = Delivery([EventSlice(.scripted(catalog: catalog, events: events))])
        let outcome = await tracker.deliver(delivery)
        #expect(outcome.retry == nil && outcome.refusals.isEmpty, "\(String(describing: outcome.retry))")
        await tracker.stop()
        let text = #""decimal":"1234567890.123456789""#
        let expected = events.map { event in
            decimals == .strings
                ? event.canonicalJSON
                : event.canonicalJSON.replacing(text, with: text.replacing("\"1", with: "1").dropLast())
        }
        #expect(try Self.objects(folder.text("events.jsonl")) == Self.objects(expected.joined(separator: "\n")))
        // Of numbers, Foundation may keep only what a double has.
        let digits = decimals == .strings ? #": "1234567890.123456789""# : ": 1234567890.123456789,"
        #expect(folder.text("events.jsonl").components(separatedBy: digits).count == 67)
        #expect(folder.text("events.jsonl").components(separatedBy: ": 9007199254740993,").count == 67)
    }

    private static func objects(_ lines: String) throws -> [NSDictionary] {
        try lines.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
        }
    }
}
