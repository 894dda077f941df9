import Foundation
import ServerTestSupport
import Testing

/// Wrong usage: the exit status, and the message.
@Suite("Wrong usage of sluice", .timeLimit(.minutes(5)))
struct UsageTests {
    @Test(
        "wrong usage exits with 64 and a message",
        arguments: [
            ("bogus", "Unexpected argument 'bogus'"),
            ("lnit", "Unexpected argument 'lnit'. Did you mean 'lint'?"),
            ("journal inspct", "Unexpected argument 'inspct'. Did you mean 'inspect'?"),
            ("replay --bogus", "Unknown option '--bogus'"),
            ("serve --prot 1", "Unknown option '--prot'\n"), ("serve --lisen a:1", "Did you mean '--listen'?"),
            ("replay --events PLAN --to postgres", "there are: console. Set --postgres, DATABASE_URL or postgres.url."),
            ("load --from kafka://a/t --events PLAN", "Give the loader a name with --group"),
            ("load --from kafka://a/t --events PLAN --group g --instance a/b", "load.instance has 1 to 249 letters"),
            ("replay --rate 0", "--rate takes a number of at least 1."),
            ("replay --rate many", "'many' is invalid for '--rate"),
            ("replay --since yesterday", "RFC 3339 time such as 2010-12-01T00:00:00Z, not 'yesterday'"),
            ("replay --until 2010-12-01", "--until takes an RFC 3339 time"),
            ("replay - -", "Standard input can be read only once."),
            ("replay --format xml", "one of 'pretty' and 'json'"),
            ("replay --log-level loud", "warning"),
            ("replay --events PLAN --event Nope", "The plan has no event 'Nope'."),
            ("replay --events PLAN --to nope", "No tracker 'nope' is configured; there are: console."),
            ("replay --events PLAN --to console --no-console", "there are: none."),
            ("serve extra", "Unexpected argument 'extra'"),
            ("serve --journal DIR --from yesterday", "beginning, end or an RFC 3339 time, not 'yesterday'"),
            ("serve --from beginning --no-journal --events PLAN", "--from needs a journal"),
            ("serve --journal DIR --no-journal", "--journal and --no-journal exclude each other"),
            ("serve --max-wait soon", "'soon' is invalid for '--max-wait"),
            ("check --timeout 0", "--timeout takes a number of seconds"),
            ("check --journal DIR --no-journal", "--journal and --no-journal exclude each other"),
            ("lint --bogus", "Unknown option '--bogus'"),
            ("config example extra", "Unexpected argument 'extra'"),
            ("migrate --events PLAN", "No database is configured"),
            ("migrate --plan-only --events PLAN", "No database is configured"),
            ("migrate --tracker other --events PLAN", "No tracker 'other' with tables is configured; there are: none."),
            ("migrate --tracker other --postgres a", "are settings of the tracker 'postgres'"),
            ("migrate --leave audit --postgres a", "--leave needs --partition"),
            ("migrate --partition all --plan-only --postgres a", "--partition excludes --plan-only"),
            ("maintain --events PLAN", "No database is configured"),
            ("maintain --since yesterday --postgres a", "--since is not a month like 2024-01"),
            ("maintain --tracker other --retention-months 3", "are settings of the tracker 'postgres'"),
            ("maintain --tracker other --archive a", "are settings of the tracker 'postgres'"),
            ("diff", "Missing expected argument '<old>'"),
            ("diff main --format xml", "one of 'text', 'markdown' or 'json'"),
            ("diff main --allow everybody", "'everybody' is invalid for '--allow"),
            ("new-event", "Missing expected argument '<name>'"),
            ("coverage", "Missing expected argument '<sources> ...'"),
            ("init a b", "Unexpected argument 'b'"),
            ("completions csh", "'csh' is invalid for '<shell>'"),
            ("lint events --events events", "Give paths or --events, not both."),
            ("lint events --config sluice.json", "--config has no effect if paths are given."),
            ("export xml", "Unexpected argument 'xml'"),
            ("export html page.html", "Unexpected argument 'page.html'"),
            ("export json-schema --events PLAN --base-uri schemas", "--base-uri takes an absolute URI"),
            ("export json-schema --events PLAN --base-uri https://a/#b", "--base-uri takes an absolute URI"),
        ]
    )
    func usage(line: String, sentence: String) async throws {
        let arguments = line.split(separator: " ").map { $0 == "PLAN" ? Sluice.plan : String($0) }
        let run = try await Sluice.run(arguments, in: try TestFolder())
        #expect(run.ending == .exit(64))
        #expect(run.output == [])
        #expect(run.errors.joined(separator: "\n").contains(sentence))
    }

    @Test(
        "an empty option, as an unset variable in a script gives it, is wrong usage",
        arguments: [
            ("migrate --postgres none --schema", "--schema"), ("migrate --postgres none --events", "--events"),
            ("migrate --postgres", "--postgres"), ("migrate --postgres none --migrations", "--migrations"),
            ("export sql --schema", "--schema"), ("export html --events", "--events"),
            ("export sql --migrations", "--migrations"), ("lint --events", "--events"), ("lint --config", "--config"),
            ("diff old --events", "--events"), ("new-event Sold --events", "--events"),
            ("quarantine list --quarantine", "--quarantine"), ("journal inspect --config", "--config"),
            ("replay --quarantine", "--quarantine"), ("coverage . --kafka-topic", "--kafka-topic"),
            ("serve --listen", "--listen"), ("serve --journal", "--journal"), ("serve --kafka", "--kafka"),
        ]
    )
    func emptyOption(line: String, option: String) async throws {
        let run = try await Sluice.run(line.split(separator: " ").map(String.init) + [""], in: try TestFolder())
        #expect(run.ending == .exit(64))
        #expect(run.output == [])
        #expect(run.errors.first == "Error: \(option) is empty.")
    }

    @Test("an empty folder name is wrong usage, and does not mean the current folder")
    func emptyFolder() async throws {
        let run = try await Sluice.run("coverage", "", "--events", Sluice.plan, in: try TestFolder())
        #expect(run.ending == .exit(64))
        #expect(run.errors.first == "Error: A file or folder has an empty name.")
    }

    @Test(
        "an invalid setting exits with 1, and the message names the setting and where it was set",
        arguments: [
            ("serve --listen nowhere", [:], "error: --listen: expected host:port"),
            ("serve --listen 127.0.0.1:65536", [:], "error: --listen: expected host:port"),
            ("serve", ["SLUICE_QUEUE_CAPACITY_IN_EVENTS": "many"], "SLUICE_QUEUE_CAPACITY_IN_EVENTS: expected a whole"),
            (
                "serve", ["SLUICE_QUEUE_CAPACITY_IN_EVENTS": "0"],
                "SLUICE_QUEUE_CAPACITY_IN_EVENTS: expected a whole number of at least 1, found 0 [invalid-value]"
            ),
            ("serve", ["SLUICE_CONSOLE_ENABLED": "perhaps"], "SLUICE_CONSOLE_ENABLED: expected true or false"),
            (
                "serve", ["SLUICE_QUEUE_POLICY": "full"],
                "expected one of wait, spill, dropNewest, dropOldest, found 'full'"
            ),
            (
                "serve", ["SLUICE_QUEUE_POLICY": "spill", "SLUICE_JOURNAL_ENABLED": "false"],
                "a queue can spill only with a journal"
            ),
            (
                "serve", ["SLUICE_JOURNAL_COMMIT_OVERDUE_SECONDS": "0"],
                "SLUICE_JOURNAL_COMMIT_OVERDUE_SECONDS: expected a whole number from 1"
            ),
            ("serve", ["SLUICE_LOG_LEVEL": "loud"], "SLUICE_LOG_LEVEL: expected one of trace, debug,"),
            ("serve --kafka localhost:1 --kafka-property linger", [:], "--kafka-property: expected name=value"),
            (
                "serve --kafka localhost:1", ["SLUICE_KAFKA_PROPERTIES": "debug=topic,msg;linger"],
                "SLUICE_KAFKA_PROPERTIES: expected name=value, and entry 2 is not"
            ),
            (
                "replay --quarantine /dev/null/q", [:],
                "'/dev/null/q' cannot be opened for writing. Its folder cannot be made"
            ),
            (
                "serve --config missing.json", [:],
                "missing.json:1:1: error: No such file or directory [unreadable-file]"
            ),
            ("serve --config .", [:], ".:1:1: error: "),
            ("serve --config list.json", [:], "list.json:1:1: error: expected settings by their names, found a list"),
            ("serve --config torn.json", [:], "error: not JSON"),
            (
                "serve --config unknown.json", [:],
                "unknown.json:1:10: error: there is no setting 'http.lisen'; did you mean 'http.listen'? [unknown-key]"
            ),
            ("keys list --config unknown.json", [:], "unknown.json:1:10: error: there is no setting 'http.lisen'"),
        ] as [(String, [String: String], String)]
    )
    func settings(line: String, environment: [String: String], sentence: String) async throws {
        let folder = try TestFolder()
        try folder.write("[]", to: "list.json")
        try folder.write("{", to: "torn.json")
        try folder.write(#"{"http":{"lisen":"127.0.0.1:0"}}"#, to: "unknown.json")
        var arguments = line.split(separator: " ").map(String.init)
        if arguments[0] != "keys" { arguments += ["--events", Sluice.plan] }
        let run = try await Sluice.run(arguments, in: folder, environment: environment)
        #expect(run.ending == .exit(1))
        #expect(run.errors.joined(separator: "\n").contains(sentence))
    }

    @Test(
        "a plan with errors makes every command exit with 1 and print the diagnostics",
        arguments: ["serve", "replay", "lint"]
    )
    func plan(command: String) async throws {
        let folder = try TestFolder()
        try folder.write(Plans.broken, to: "plan/shop.plist")
        let option = command == "lint" ? [] : ["--events"]
        let run = try await Sluice.run([command] + option + ["plan"], in: folder)
        #expect(run.ending == .exit(1))
        let said = run.output + run.errors
        #expect(
            said.contains("plan/shop.plist:12:36: error: unknown type 'intger'; did you mean 'integer'? [unknown-type]")
        )
        let missing = try await Sluice.run([command] + option + ["nowhere"], in: folder)
        #expect(missing.ending == .exit(1))
        #expect((missing.output + missing.errors)[0].hasPrefix("nowhere:1:1: error: there is no such file or folder"))
    }

    @Test(
        "options take precedence over the environment, and the environment over the file; empty texts count as not set"
    )
    func precedence() async throws {
        let folder = try TestFolder()
        try folder.write(#"{"console":{"format":"json"},"log":{"level":"error"}}"#, to: "sluice.json")
        let line = try await RetailMonth.dayLines(1)[0]
        try folder.write(line, to: "one.ndjson")
        func firstByte(_ options: [String], _ environment: [String: String] = [:]) async throws -> Character? {
            let fixed = ["replay", "one.ndjson", "--events", Sluice.plan]
            return try await Sluice.run(fixed + options, in: folder, environment: environment).output.first?.first
        }
        let config = ["--config", "sluice.json"]
        #expect(try await firstByte([]) == "2")
        #expect(try await firstByte(config) == "{")
        #expect(try await firstByte(config, ["SLUICE_CONSOLE_FORMAT": "pretty"]) == "2")
        #expect(try await firstByte(config + ["--format", "json"], ["SLUICE_CONSOLE_FORMAT": "pretty"]) == "{")
        let empty = ["DATABASE_URL": "", "KAFKA_BROKERS": "", "SLUICE_CONSOLE_FORMAT": ""]
        #expect(try await firstByte(config, empty) == "{")
    }
}
