import Foundation
import ServerTestSupport
import Testing

/// `sluice lint`.
@Suite("sluice lint", .timeLimit(.minutes(5)))
struct LintTests {
    @Test("the project's own plans have no problems")
    func clean() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run("lint", Sluice.plan, in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output == [])
        #expect(run.errors.count == 1)
        #expect(run.errors[0].hasSuffix(" events, no problems"))
        for name in ["retail.plist", "food_ordering.plist"] {
            #expect(try await Sluice.run("lint", Sluice.plan + "/" + name, in: folder).ending == .exit(0))
        }
    }

    @Test("lint prints one line for each problem of an invalid plan, and nothing else to standard output")
    func broken() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.broken, to: "events/shop.plist")
        // `events` is the default.
        let run = try await Sluice.run("lint", in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.output == [
                "events/shop.plist:9:49: error: unknown tracker 'konsole'; did you mean 'console'? [unknown-tracker]",
                "events/shop.plist:12:36: error: unknown type 'intger'; did you mean 'integer'? [unknown-type]",
                "events/shop.plist:15:9: error: the event has no trackers; list them in 'registeredTrackers'"
                    + " [no-trackers]",
            ]
        )
        #expect(run.errors == ["3 errors, 0 warnings"])
    }

    @Test("options, the environment and the configuration file can select the plan to lint")
    func places() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.broken, to: "broken/shop.plist")
        try folder.write(#"{"events":{"directory":"broken"}}"#, to: "sluice.json")
        for options in [["--events", "broken"], ["--config", "sluice.json"]] {
            #expect(try await Sluice.run(["lint"] + options, in: folder).errors == ["3 errors, 0 warnings"])
        }
        let environment = ["SLUICE_EVENTS_DIRECTORY": "broken"]
        #expect(try await Sluice.run("lint", in: folder, environment: environment).ending == .exit(1))
        // A path takes precedence.
        let named = try await Sluice.run("lint", Sluice.plan, in: folder, environment: environment)
        #expect(named.ending == .exit(0))
    }

    @Test("lint refuses a named pipe as a plan file, but accepts a shell's process substitution")
    func pipes() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "shop.plist")
        #expect(mkfifo(folder.path("pipe.plist"), 0o600) == 0)
        for path in ["pipe.plist", "."] {
            let run = try await Sluice.run("lint", path, in: folder)
            let file = path == "." ? "./pipe.plist" : path
            #expect(run.ending == .exit(1))
            #expect(run.output == ["\(file):1:1: error: this is not a regular file [unreadable-file]"])
        }
        let program = try SluiceProcess.executable().path
        let file = folder.path("shop.plist")
        var lines = ["lint /dev/stdin < '\(file)'", "lint <(cat '\(file)')"]
        #if os(Linux)
        lines.append("lint /proc/self/fd/0 < <(cat '\(file)')")
        #endif
        for line in lines {
            #expect(try await Command.run("bash", ["-c", "'\(program)' \(line)"]).status == 0)
        }
    }

    @Test("lint --json prints the report as an object")
    func json() async throws {
        struct Report: Decodable {
            struct Problem: Decodable, Equatable {
                let path: String
                let line: Int
                let column: Int
                let severity: String
                let code: String
                let sentence: String
            }

            let errors: Int
            let warnings: Int
            let events: Int?
            let problems: [Problem]
        }
        let folder = try TestFolder()
        try folder.write(Plans.broken, to: "events/shop.plist")
        func report(_ arguments: String...) async throws -> (SluiceProcess.Ending, Report) {
            let run = try await Sluice.run(["lint", "--json"] + arguments, in: folder)
            let json = Data(run.output.joined(separator: "\n").utf8)
            return (run.ending, try JSONDecoder().decode(Report.self, from: json))
        }
        let (ending, broken) = try await report()
        #expect(ending == .exit(1))
        #expect(broken.errors == 3)
        #expect(broken.warnings == 0)
        #expect(broken.events == nil)
        #expect(
            broken.problems[1]
                == .init(
                    path: "events/shop.plist",
                    line: 12,
                    column: 36,
                    severity: "error",
                    code: "unknown-type",
                    sentence: "unknown type 'intger'; did you mean 'integer'?"
                )
        )
        let (success, clean) = try await report(Sluice.plan)
        #expect(success == .exit(0))
        #expect(clean.events ?? 0 >= 14)
        #expect(clean.problems == [])
    }

    @Test("names that collide only in Swift are warnings, because senders over HTTP do not see them")
    func swiftNames() async throws {
        let folder = try TestFolder()
        let plan = """
            <plist version="1.0"><dict><key>events</key><dict><key>Sold</key><dict>
            <key>registeredTrackers</key><array><string>console</string></array><key>payload</key><dict>
            <key>grade</key><dict><key>type</key><string>string</string>
            <key>enum</key><array><string>A+</string><string>A-</string></array></dict>
            </dict></dict></dict></dict></plist>
            """
        try folder.write(plan, to: "events/shop.plist")
        let run = try await Sluice.run("lint", in: folder)
        #expect(run.ending == .exit(0))
        #expect(
            run.output == [
                "events/shop.plist:3:1: warning: the values 'A+' and 'A-' both become the case 'a'; name one of them in"
                    + " 'swiftCases' [swift-name-collision]"
            ]
        )
        #expect(run.errors == ["1 event, 0 errors, 1 warning"])
    }
}
