import Foundation
import Testing

/// `sluice config`.
@Suite("sluice config", .timeLimit(.minutes(5)))
struct ConfigTests {
    private static let broken = """
        http:
          lisen: 127.0.0.1:80
          listen: 80
          maxWaitSeconds: "3"
          timeouts: { headSeconds: 1.5 }
          http2: 1
        http:
          listen: nowhere
          listen: 127.0.0.1:80
        queue:
          capacityInEvents: 0
          policy: full
          lingerMilliseconds: 4
        kafka: { properties: [debug=all, 7] }
        log: info
        httpp: { listen: a }
        privacy: { hashKeyFile: none }
        journal: { enabled: on, maximumBytes: 0x10 }

        """

    @Test("check prints each problem of a YAML file with its line, its column and the fix")
    func problems() async throws {
        let folder = try TestFolder()
        try folder.write(Self.broken, to: "sluice.yaml")
        let run = try await Sluice.run("config", "check", "--config", "sluice.yaml", in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.output
                == [
                    "2:3: error: there is no setting 'http.lisen'; did you mean 'http.listen'? [unknown-key]",
                    "3:11: error: http.listen: expected a text, found a number; put it in quotation marks [wrong-type]",
                    "4:19: error: http.maxWaitSeconds: expected a whole number, found a text [wrong-type]",
                    "5:28: error: http.timeouts.headSeconds: expected a whole number, found a number with a fraction"
                        + " [wrong-type]",
                    "6:10: error: http.http2: expected a section with keys, found a number [wrong-type]",
                    "7:1: error: the key 'http' is there twice, first in line 1 [duplicate-key]",
                    "8:11: error: http.listen: expected host:port with a port from 0 to 65535, found 'nowhere'"
                        + " [invalid-value]",
                    "9:3: error: the key 'listen' is there twice, first in line 8 [duplicate-key]",
                    "11:21: error: queue.capacityInEvents: expected a whole number of at least 1, found 0 [invalid-value]",
                    "12:11: error: queue.policy: expected one of wait, spill, dropNewest, dropOldest, found 'full'"
                        + " [invalid-value]",
                    "13:3: error: there is no setting 'queue.lingerMilliseconds'; did you mean"
                        + " 'delivery.lingerMilliseconds'? [unknown-key]",
                    "14:34: error: kafka.properties: expected a text, found a number; put it in quotation marks [wrong-type]",
                    "15:6: error: log: expected a section with keys, found a text [wrong-type]",
                    "16:1: error: there is no setting 'httpp'; did you mean 'http'? [unknown-key]",
                    "17:25: error: privacy.hashKeyFile: the file 'none' cannot be read [invalid-value]",
                    "18:21: error: journal.enabled: expected true or false, found 'on' [wrong-type]",
                    "18:39: error: journal.maximumBytes: expected a whole number, found one that is too large or not decimal"
                        + " [wrong-type]",
                ].map { "sluice.yaml:" + $0 }
        )
        #expect(run.errors == ["17 problems"])
        // Every other command says the same.
        let serve = try await Sluice.run("serve", "--config", "sluice.yaml", in: folder)
        #expect(serve.ending == .exit(1))
        #expect(serve.errors == run.output)
    }

    @Test("check finds the problems of a JSON file, which may be indented with tabs")
    func json() async throws {
        let folder = try TestFolder()
        try folder.write(
            "{\n\t\"http\": {\"listen\":80,\"listen\":\"127.0.0.1:0\"},\n\t\"queue\":{\"polcy\":\"wait\"},\r\n\t\"log\":null}",
            to: "sluice.json"
        )
        let run = try await Sluice.run("config", "check", "--config", "sluice.json", in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.output
                == [
                    "2:20: error: http.listen: expected a text, found a number; put it in quotation marks [wrong-type]",
                    "2:23: error: the key 'listen' is there twice, first in line 2 [duplicate-key]",
                    "3:11: error: there is no setting 'queue.polcy'; did you mean 'queue.policy'? [unknown-key]",
                ].map { "sluice.json:" + $0 }
        )
    }

    @Test("JSON with surrogate escapes and a tab before the first brace is read, with its lines and columns")
    func escapedJSON() async throws {
        let folder = try TestFolder()
        let key = #""\ud83d\ude00a""#
        try folder.write(
            "\t{\"log\": {\(key): 1, \"lvl\": 2},\n"
                + #"\#t"kafka": {"topic": "a\\\"\ud83d\uDE00\u00e9", "topik": 1}, "trackers": {"#
                + "\(key): {\"type\": \"consol\"}}}\n",
            to: "sluice.json"
        )
        let run = try await Sluice.run("config", "check", "--config", "sluice.json", in: folder)
        #expect(
            run.output
                == [
                    "1:11: error: there is no setting 'log.😀a'; 'sluice config example' shows all settings [unknown-key]",
                    "1:31: error: there is no setting 'log.lvl'; did you mean 'log.level'? [unknown-key]",
                    "2:48: error: there is no setting 'kafka.topik'; did you mean 'kafka.topic'? [unknown-key]",
                    "2:100: error: trackers.😀a.type: unknown type 'consol'; did you mean 'console'? [invalid-value]",
                ].map { "sluice.json:" + $0 }
        )
        let text = #"{"kafka": {"brokers": "a:1", "topic": "a\\\"\ud83d\uDE00\u00e9\/"}}"#
        try folder.write(text, to: "valid.json")
        #expect(try await settings(["--config", "valid.json"], in: folder)["kafka.topic"]?.value == "a\\\"😀é/")
        try folder.write("{\"kafka\": {\"topic\": \"\u{7f}\"}}", to: "control.json")
        let control = try await Sluice.run("config", "check", "--config", "control.json", in: folder)
        let beginning = "control.json:1:1: error: cannot be read: "
        #expect(control.output.count == 1 && control.output[0].hasPrefix(beginning), "\(control.output)")
    }

    @Test(
        "check says where a file is not YAML or not JSON",
        arguments: [
            ("a.yaml", "a: [1\nb: 2", "a.yaml:2:2: error: not YAML: while parsing a flow sequence in line 1, "),
            ("b.yml", "log:\n\tlevel: info", "b.yml:2:1: error: not YAML: "),
            ("c.yaml", "log:\n---\nlog:", "c.yaml:2:1: error: not YAML: expected a single document in the stream"),
            ("d.json", "{\"log\":", "d.json:2:1: error: not JSON: while parsing a flow node"),
            ("g.json", "{\n  \"http\": {\"open\": tru}}", "g.json:2:23: error: not JSON: Invalid value"),
            ("e.json", "{'log': null}", "e.json:1:2: error: not JSON: Invalid value"),
            ("f.json", "log:", "f.json:1:1: error: not JSON: "),
            ("g.yaml", "- a", "g.yaml:1:1: error: expected settings by their names, found a list [wrong-type]"),
        ]
    )
    func syntax(name: String, text: String, beginning: String) async throws {
        let folder = try TestFolder()
        try folder.write(text, to: name)
        let run = try await Sluice.run("config", "check", "--config", name, in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.output.count == 1)
        #expect(run.output[0].hasPrefix(beginning), "\(run.output)")
    }

    @Test("check accepts an empty file, keys without a value, and a pipe")
    func valid() async throws {
        let folder = try TestFolder()
        for (name, text) in [
            ("empty.yaml", ""), ("empty.json", ""), ("comment.yaml", "# nothing\n"),
            ("null.yml", "log:\n  level:\nhttp: ~\n"),
            ("full.json", #"{"log": {"level": "debug"}, "http": {"proxies": ["10.0.0.0/8"], "open": true}}"#),
        ] {
            try folder.write(text, to: name)
            let run = try await Sluice.run("config", "check", "--config", name, in: folder)
            #expect(run.ending == .exit(0))
            #expect(run.output == ["\(name): no problems"])
        }
        let program = try SluiceProcess.executable().path
        let line = "'\(program)' config check --config <(echo 'log: { level: loud }')"
        #expect(try await Command.run("bash", ["-c", line]).text.contains(":1:15: error: log.level: expected one of"))
    }

    @Test("an invalid environment variable is reported with its name")
    func environment() async throws {
        let run = try await Sluice.run(
            "config",
            "check",
            in: TestFolder(),
            environment: [
                "SLUICE_LOG_LEVEL": "loud", "SLUICE_JOURNAL_ENABLED": "perhaps",
                "SLUICE_QUEUE_CAPACITY_IN_EVENTS": "1e3",
            ]
        )
        #expect(run.ending == .exit(1))
        #expect(
            run.output == [
                "error: SLUICE_JOURNAL_ENABLED: expected true or false, found 'perhaps' [wrong-type]",
                "error: SLUICE_QUEUE_CAPACITY_IN_EVENTS: expected a whole number, found '1e3' [wrong-type]",
                "error: SLUICE_LOG_LEVEL: expected one of trace, debug, info, notice, warning, error, critical, found"
                    + " 'loud' [invalid-value]",
            ]
        )
    }

    @Test("check warns of environment variables that begin with SLUICE_ and belong to no setting")
    func unknownVariables() async throws {
        let folder = try TestFolder()
        try folder.write("trackers: { a: { type: console } }", to: "sluice.yaml")
        let environment = [
            "SLUICE_POSTGRES_URL": "postgres://a/b", "SLUICE_TRACKERS_KAFKA_BROKERS": "a:1", "SLUICE_HTTP_LISEN": "a",
            "SLUICE_TRACKERS_A_FORMAT": "json", "SLUICE_TRACKERS_B_SCHEMA_NAME": "json", "SLUICE_EMPTY": "",
            "SLUICE_SERVICE_HOST": "10.0.0.1", "SLUICE_PORT": "tcp://10.0.0.1:80", "SLUICE_PORT_80_TCP_PORT": "80",
        ]
        let arguments = ["config", "check", "--config", "sluice.yaml"]
        let run = try await Sluice.run(arguments, in: folder, environment: environment)
        #expect(run.ending == .exit(0))
        let warnings = [
            ("HTTP_LISEN", "did you mean SLUICE_HTTP_LISTEN?"), ("POSTGRES_URL", "did you mean DATABASE_URL?"),
            ("TRACKERS_B_SCHEMA_NAME", "'sluice config example' shows all of them"),
            ("TRACKERS_KAFKA_BROKERS", "did you mean KAFKA_BROKERS?"),
        ].map { name, hint in
            "warning: SLUICE_\(name): no setting has this environment variable; \(hint) [unknown-variable]"
        }
        #expect(run.output == warnings + ["sluice.yaml: 4 warnings"])
        // Beside errors, and in no other command.
        let broken = environment.merging(["SLUICE_LOG_LEVEL": "loud"]) { $1 }
        let check = try await Sluice.run(arguments, in: folder, environment: broken)
        #expect(check.ending == .exit(1))
        #expect(check.output.dropFirst().elementsEqual(warnings))
        #expect(check.errors == ["5 problems"])
        let show = try await Sluice.run("config", "show", in: folder, environment: environment)
        #expect(show.errors.isEmpty)
    }

    @Test("the timeouts of the HTTP port are at least one second, and only the drain may take no time")
    func timeouts() async throws {
        let names = ["HEAD", "BODY", "BODY_PAUSE", "CHECK", "IDLE", "ANSWER", "DRAIN"]
        let variables = names.map { "SLUICE_HTTP_TIMEOUTS_\($0)_SECONDS" }
        for (value, allowed) in [("0", ["DRAIN"]), ("86401", []), ("86400", names)] {
            let environment = Dictionary(uniqueKeysWithValues: variables.map { ($0, value) })
            let run = try await Sluice.run("config", "check", in: TestFolder(), environment: environment)
            let problems = names.filter { !allowed.contains($0) }.map { name in
                "error: SLUICE_HTTP_TIMEOUTS_\(name)_SECONDS: expected a whole number from"
                    + " \(name == "DRAIN" ? 0 : 1) to 86400, found \(value) [invalid-value]"
            }
            #expect(run.output == (problems.isEmpty ? ["The environment: no problems"] : problems))
        }
    }

    @Test("the example has every setting, and is valid as it is and with everything uncommented")
    func example() async throws {
        let folder = try TestFolder()
        let example = try await Sluice.output(of: ["config", "example"])
        try folder.write(example, to: "example.yaml")
        let uncommented = example.replacing(/(?m)^( *)#(?=\w)/.anchorsMatchLineEndings()) { "\($0.1)" }
        #expect(uncommented.contains("\n  listen: 127.0.0.1:8080\n"))
        try folder.write(uncommented, to: "all.yaml")
        for file in ["example.yaml", "all.yaml"] {
            let run = try await Sluice.run("config", "check", "--config", file, in: folder)
            #expect(run.output == ["\(file): no problems"])
        }
        // All values are the defaults.
        let shown = try await settings(["--config", "all.yaml"], in: folder)
        let defaults = try await settings([], in: folder)
        #expect(defaults.count > 80)
        for (key, setting) in defaults where setting.source == "default" {
            #expect(shown[key]?.value == setting.value, "\(key)")
        }
        #expect(shown["trackers.audit.brokers"]?.value == "kafka.example:9092")
    }

    @Test("show prints the value of every setting and where it comes from")
    func show() async throws {
        let folder = try TestFolder()
        try folder.write(
            "http:\n  listen: 127.0.0.1:81\n  proxies: [10.0.0.1]\nlog:\n  level: error\nqueue: { policy: wait }\n",
            to: "sluice.yaml"
        )
        let arguments = ["--config", "sluice.yaml", "--log-level", "debug"]
        let environment = ["SLUICE_HTTP_LISTEN": "127.0.0.1:82", "DATABASE_URL": ""]
        let shown = try await settings(arguments, in: folder, environment: environment)
        #expect(shown["log.level"] == Shown(value: "debug", source: "option", place: "--log-level"))
        #expect(
            shown["http.listen"] == Shown(value: "127.0.0.1:82", source: "environment", place: "SLUICE_HTTP_LISTEN")
        )
        #expect(shown["queue.policy"] == Shown(value: "wait", source: "file", place: "sluice.yaml:6"))
        #expect(shown["http.proxies"] == Shown(value: "[10.0.0.1]", source: "file", place: "sluice.yaml:3"))
        #expect(shown["queue.capacityInEvents"] == Shown(value: "100000", source: "default", place: nil))
        #expect(shown["postgres.url"] == Shown(value: "none", source: "default", place: nil))

        let table = try await Sluice.run(["config", "show"] + arguments, in: folder, environment: environment)
        #expect(table.ending == .exit(0))
        #expect(table.output.count == shown.count)
        #expect(table.output.contains { $0.split(separator: " ") == ["queue.policy", "wait", "sluice.yaml:6"] })
        let memory = try await settings(["--no-journal"], in: folder)
        #expect(memory["queue.policy"] == Shown(value: "wait", source: "default", place: nil))
        #expect(memory["journal.enabled"] == Shown(value: "false", source: "option", place: "--no-journal"))
    }

    @Test("an empty environment variable and an empty text in the file count as not set")
    func emptyValues() async throws {
        let folder = try TestFolder()
        try folder.write(
            """
            postgres: { url: "postgres://a/b" }
            kafka: { brokers: "a:1", properties: [debug=all] }
            privacy: { hashKey: geheim-geheim-geheim }
            http: { open: true }
            queue: { capacityInEvents: 5, capacityInBytes: "", policy: "" }
            log: { level: "" }
            journal: { enabled: "" }

            """,
            to: "sluice.yaml"
        )
        let variables = [
            "DATABASE_URL", "DATABASE_URL_FILE", "KAFKA_BROKERS", "SLUICE_KAFKA_PROPERTIES", "SLUICE_PRIVACY_HASH_KEY",
            "SLUICE_HTTP_OPEN", "SLUICE_QUEUE_CAPACITY_IN_EVENTS",
        ]
        let environment = Dictionary(uniqueKeysWithValues: variables.map { ($0, "") })
        let shown = try await settings(["--config", "sluice.yaml"], in: folder, environment: environment)
        for (key, value, line) in [
            ("kafka.brokers", "a:1", 2), ("kafka.properties", "[debug=all]", 2), ("privacy.hashKey", "***", 3),
            ("http.open", "true", 4), ("queue.capacityInEvents", "5", 5),
        ] {
            #expect(shown[key] == Shown(value: value, source: "file", place: "sluice.yaml:\(line)"))
        }
        #expect(shown["postgres.url"]?.place == "sluice.yaml:1")
        for key in ["queue.capacityInBytes", "queue.policy", "log.level", "journal.enabled"] {
            #expect(shown[key]?.source == "default", "\(key)")
        }
    }

    /// A setting of `config show --json`, with its value as text.
    struct Shown: Equatable {
        var value: String
        var source: String
        var place: String?
    }

    func settings(
        _ arguments: [String],
        in folder: TestFolder,
        environment: [String: String] = [:]
    ) async throws -> [String: Shown] {
        let run = try await Sluice.run(["config", "show", "--json"] + arguments, in: folder, environment: environment)
        #expect(run.ending == .exit(0), "\(run.errors)")
        let json = try JSONDecoder().decode(
            [String: [Setting]].self,
            from: Data(run.output.joined(separator: "\n").utf8)
        )
        return Dictionary(uniqueKeysWithValues: (json["settings"] ?? []).map { ($0.key, $0.shown) })
    }

    private struct Setting: Decodable {
        private enum CodingKeys: String, CodingKey {
            case key, value, source, place
        }

        let key: String
        let shown: Shown

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let value =
                (try? container.decode(Int.self, forKey: .value)).map { "\($0)" }
                ?? (try? container.decode(Bool.self, forKey: .value)).map { "\($0)" }
                ?? (try? container.decode([String].self, forKey: .value)).map { "[\($0.joined(separator: ", "))]" }
            key = try container.decode(String.self, forKey: .key)
            shown = Shown(
                value: try value ?? container.decode(String.self, forKey: .value),
                source: try container.decode(String.self, forKey: .source),
                place: try container.decodeIfPresent(String.self, forKey: .place)
            )
        }
    }
}
