import EventModel
import Foundation
import PipelineTestSupport
import ServerTestSupport
import SluiceExec
import SluiceTesting
import TestSupport
import Testing
import TrackerKit

@Suite("A program that delivers events", .timeLimit(.minutes(5)))
struct ExecTrackerTests {
    /// Reads deliveries, keeps the headers in `headers` and the lines in `events`, and answers as `$answer` says.
    private static func script(answer: String = #"echo "{\"delivery\":$delivery}""#) -> String {
        """
        while IFS= read -r header; do
            echo "$header" >>"$1/headers"
            bytes=$(expr "$header" : '.*,"bytes":\\([0-9]*\\)')
            delivery=$(expr "$header" : '{"delivery":\\([0-9]*\\),')
            head -c "$bytes" >>"$1/events"
            \(answer)
        done
        """
    }

    @Test("gets a header and the canonical lines, and is kept")
    func deliveries() async throws {
        let folder = try ProgramFolder()
        let tracker = folder.tracker(script: "echo started >>\"$1/starts\"\n" + Self.script())
        try await tracker.start(for: ExecEvents.catalog)
        try await tracker.start(for: ExecEvents.catalog)
        for count in [3, 1] {
            let outcome = await tracker.deliver(ExecEvents.delivery(count))
            #expect(outcome.retry == nil && outcome.refusals.isEmpty)
        }
        await tracker.stop()
        let lines = ExecEvents.delivery(3).map { $0.json + "\n" }
        #expect(folder.text("events") == (lines + lines.prefix(1)).joined())
        let sizes = [lines.joined().utf8.count, lines[0].utf8.count]
        #expect(
            folder.text("headers") == """
                {"delivery":1,"attempt":1,"events":3,"bytes":\(sizes[0])}
                {"delivery":2,"attempt":1,"events":1,"bytes":\(sizes[1])}

                """
        )
        #expect(folder.text("starts") == "started\n")
    }

    /// What a program may do instead of answering, and how that is reported.
    static let failures: [(script: String, code: TrackerError.Code, message: String)] = [
        ("exit 3", .failed, "The program ended before it had answered."),
        ("kill -9 $$", .failed, "The program ended before it had answered."),
        ("read -r header; exit 3", .failed, "The program ended before it had answered."),
        (script(answer: "exit 3"), .failed, "The program ended before it had answered."),
        (script(answer: #"printf '{"delivery":1'; exit 0"#), .failed, "The program ended before it had answered."),
        ("exec <&- ; tail -f /dev/null", .timeout, "The program did not answer in time, so Sluice terminated it."),
        ("exec >&- ; tail -f /dev/null", .failed, "The program ended before it had answered."),
        ("tail -f /dev/null", .timeout, "The program did not answer in time, so Sluice terminated it."),
        ("trap '' TERM; tail -f /dev/null", .timeout, "The program did not answer in time, so Sluice terminated it."),
        (script(answer: "tail -f /dev/null"), .timeout, "The program did not answer in time, so Sluice terminated it."),
        (script(answer: "echo ok"), .failed, badAnswer("it is not JSON")),
        (
            script(answer: #"echo '{"delivery":9}'"#), .failed,
            badAnswer("it does not name the delivery that it answers")
        ),
        (script(answer: #"printf '{"delivery":1}\n{}\n'"#), .failed, badAnswer("it has more than one line")),
        (script(answer: "tr '\\0' 'x' </dev/zero"), .failed, badAnswer("it is too long")),
    ]

    private static func badAnswer(_ reason: String) -> String {
        "The program's answer cannot be used, so Sluice terminated it: \(reason)."
    }

    @Test(
        "that does not answer as it should is ended, its delivery is retried, and it is started again",
        arguments: failures.indices
    )
    func failing(index: Int) async throws {
        let (script, code, message) = Self.failures[index]
        let folder = try ProgramFolder()
        let tracker = folder.tracker(script: "if [ -e \"$1/works\" ]; then\n\(Self.script())\nfi\n\(script)") {
            // A busy machine may take long for an answer that comes.
            $0.timeout = code == .timeout ? .seconds(1) : .seconds(60)
            $0.grace = .milliseconds(100)
        }
        try await tracker.start(for: ExecEvents.catalog)
        // More than the pipe has room for.
        let delivery = ExecEvents.delivery(10_000)
        for _ in 0..<2 {
            let reason = await tracker.deliver(delivery).retry?.reason
            #expect(reason?.code == code, "\(script)")
            #expect(reason?.message == message, "\(script)")
        }
        try folder.write("", to: "works")
        try? folder.remove("events")
        try? folder.remove("headers")
        #expect(await tracker.deliver(delivery).retry == nil, "\(script)")
        #expect(folder.ids(in: "events") == delivery.map(\.id))
        #expect(folder.text("headers").contains(#","attempt":3,"#))
        await tracker.stop()
    }

    @Test("that writes something without being asked is ended")
    func unasked() async throws {
        let folder = try ProgramFolder()
        try #require(mkfifo(folder.path("written"), 0o600) == 0)
        // Opening a FIFO waits for the other side.
        let tracker = folder.tracker(script: "echo hello; : >\"$1/written\"; cat >/dev/null") { $0.grace = .zero }
        try await tracker.start(for: ExecEvents.catalog)
        _ = try FileHandle(forReadingFrom: URL(filePath: folder.path("written"))).readToEnd()
        let reason = await tracker.deliver(ExecEvents.delivery(1)).retry?.reason
        #expect(reason?.message == Self.badAnswer("it came before the delivery"))
        await tracker.stop()
    }

    @Test("is told how often a delivery has failed, and is left alone as long as it asks for")
    func attempts() async throws {
        let folder = try ProgramFolder()
        let answer = #"echo "{\"delivery\":$delivery,\"retry\":{\"reason\":\"later\",\"afterSeconds\":0.2}}""#
        let clock = ManualClock()
        let tracker = folder.tracker(script: Self.script(answer: answer), clock: clock)
        try await tracker.start(for: ExecEvents.catalog)
        for attempt in 1...3 {
            async let outcome = tracker.deliver(ExecEvents.delivery(1))
            if attempt > 1 {
                await clock.waitForSleepers(1)
                #expect(clock.sleepers == [.milliseconds(200)])
                clock.advance(by: .milliseconds(200))
            }
            #expect(await outcome.retry?.reason.code == .failed)
        }
        let headers = folder.text("headers").split(separator: "\n")
        let attempts = headers.compactMap { $0.split(separator: ",").dropFirst().first }
        #expect(attempts == [#""attempt":1"#, #""attempt":2"#, #""attempt":3"#])
        await tracker.stop()
    }

    @Test("has three descriptors, a stated environment, and a group of its own")
    func surroundings() async throws {
        let folder = try ProgramFolder()
        try folder.write("secret\n", to: "token")
        let script = """
            ls /proc/self/fd | wc -l >"$1/descriptors"
            env -0 >"$1/environment"
            pwd >"$1/directory"
            ps -o pgid= -p $$ | tr -d ' ' >"$1/group"; echo $$ >"$1/process"
            \(Self.script())
            """
        let tracker = folder.tracker(script: script) { configuration in
            configuration.environment = ["REGION=eu=west", "NOT_SET_ANYWHERE", "EMPTY="]
            configuration.environmentFiles = ["TOKEN=\(folder.path("token"))"]
            configuration.workingDirectory = "/"
        }
        try await tracker.start(for: ExecEvents.catalog)
        #expect(await tracker.deliver(ExecEvents.delivery(1)).retry == nil)
        await tracker.stop()
        // `ls` has the folder open as well.
        #expect(Int(folder.text("descriptors").trimmingCharacters(in: .whitespacesAndNewlines)) == 4)
        #expect(folder.text("directory") == "/\n")
        #expect(folder.text("group") == folder.text("process"))
        let variables = Set(folder.text("environment").split(separator: "\0").map { String($0) })
        for variable in ["REGION=eu=west", "EMPTY=", "TOKEN=secret", "SLUICE_TRACKER=exec"] {
            #expect(variables.contains(variable), "\(variable)")
        }
        let names = Set(variables.map { String($0.prefix { $0 != "=" }) })
        // The shell adds the last three.
        let allowed: Set = [
            "PATH", "HOME", "LANG", "TZ", "SLUICE_TRACKER", "REGION", "EMPTY", "TOKEN", "PWD", "SHLVL", "_",
        ]
        #expect(names.subtracting(allowed) == [])
    }

    @Test("is ended with the processes that it has started")
    func stop() async throws {
        let folder = try ProgramFolder()
        // Neither the program nor its child ends by itself, or at SIGTERM.
        let script = """
            trap '' TERM
            sh -c 'trap "" TERM; exec tail -f /dev/null' &
            echo "$$ $!" >"$1/processes"
            \(Self.script())
            exec tail -f /dev/null
            """
        let tracker = folder.tracker(script: script) { $0.grace = .milliseconds(200) }
        try await tracker.start(for: ExecEvents.catalog)
        #expect(await tracker.deliver(ExecEvents.delivery(1)).retry == nil)
        await tracker.stop()
        let processes = folder.text("processes").split { $0.isWhitespace }.compactMap { pid_t($0) }
        #expect(processes.count == 2)
        // A killed process may still take a moment to end; one that was left behind never would.
        for process in processes { while isRunning(process) { try await waitBriefly() } }
    }

    @Test("may write without end to standard error, of which a part is logged, and its last lines with its end")
    func standardError() async throws {
        let folder = try ProgramFolder()
        let log = RecordingLog()
        let answer = #"""
            head -c 1000000 /dev/zero | tr '\0' '\n' >&2
            printf 'red \033[31m\nlast\n' >&2
            if [ "$delivery" -gt 1 ]; then exit 3; fi
            echo "{\"delivery\":$delivery}"
            """#
        let tracker = folder.tracker(script: Self.script(answer: answer), logger: log.logger)
        try await tracker.start(for: ExecEvents.catalog)
        #expect(await tracker.deliver(ExecEvents.delivery(1)).retry == nil)
        #expect(await tracker.deliver(ExecEvents.delivery(1)).retry?.reason.code == .failed)
        await tracker.stop()
        let end = try #require(log.all.first { $0.hasPrefix("The program has ended") })
        #expect(end.contains(" end=exit status 3 "))
        #expect(end.contains(#" | red \u001b[31m | last "#))
        // 100 in ten seconds, however long the test takes.
        let lines = log.all.count { $0.hasPrefix("The program wrote a line to standard error.") }
        #expect(lines >= 100 && lines < 10_000)
        #expect(log.all.contains { $0.hasPrefix("The program wrote more lines to standard error than are logged.") })
    }

    @Test("is asked with an empty delivery whether it can deliver")
    func check() async throws {
        let folder = try ProgramFolder()
        let outline = PipelineOutline(catalog: ExecEvents.catalog, hasJournal: false)
        let working = folder.tracker(script: Self.script())
        #expect(await working.problems(in: outline).isEmpty)
        await working.stop()
        #expect(
            folder.text("headers") == #"{"delivery":1,"attempt":1,"events":0,"bytes":0,"check":["Song Played"]}"# + "\n"
        )
        let answer = #"echo "{\"delivery\":$delivery,\"retry\":{\"reason\":\"no account\"}}""#
        let failing = folder.tracker(script: Self.script(answer: answer))
        #expect(await failing.problems(in: outline).map(\.message) == ["The program asks for a retry: no account"])
        await failing.stop()
    }

    @Test("that cannot be started is reported")
    func missing() async throws {
        let folder = try ProgramFolder()
        func message(_ change: (inout ExecConfiguration) -> Void) async -> String? {
            let tracker = folder.tracker(script: "", change)
            let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: ExecEvents.catalog) }
            #expect(error?.isRetryable == false)
            await tracker.stop()
            return error?.message
        }
        #expect(
            await message { $0.command = ["/nowhere/program"] }
                == "The program '/nowhere/program' cannot be started: No such file or directory."
        )
        #expect(
            await message { $0.command = ["no-such-program"] }
                == "The program 'no-such-program' was not found in PATH; install it, or state its path."
        )
        #expect(
            await message { $0.workingDirectory = "/nowhere" }
                == "The directory '/nowhere' cannot be used: No such file or directory; make it, or let the process enter it."
        )
        #expect(
            await message { $0.environmentFiles = ["TOKEN=/nowhere"] }
                == "The file '/nowhere' with the secret is missing, empty, or cannot be read."
        )
    }

    @Test("needs a command and names of environment variables")
    func settings() throws {
        let folder = try ProgramFolder()
        func message(_ change: (inout ExecConfiguration) -> Void) -> String? {
            let tracker = folder.tracker(script: "", change)
            let error = #expect(throws: TrackerError.self) { try tracker.checkSettings(for: ExecEvents.catalog) }
            #expect(error?.code == .invalidSettings)
            return error?.message
        }
        let empty = "The command is empty; it is a list of the program and its arguments."
        #expect(message { $0.command = [] } == empty)
        #expect(message { $0.command = [""] } == empty)
        #expect(message { $0.environment = ["1A=b"] } == "'1A' is not a valid name of an environment variable.")
        #expect(message { $0.environment = ["=b"] } == "'' is not a valid name of an environment variable.")
        #expect(
            message { $0.environmentFiles = ["TOKEN"] } == "'TOKEN' is not of the form NAME=path."
        )
        #expect(
            message { $0.command = ["a\0b"] } == "The command and its environment cannot contain NUL characters."
        )
    }
}
