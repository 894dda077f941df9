import Foundation
import ServerTestSupport
import Testing

/// `sluice config` as a program; what it finds and shows is tested with the settings.
@Suite("sluice config", .timeLimit(.minutes(5)))
struct ConfigTests {
    @Test("check prints errors and warnings, and every other command says the same of the errors")
    func problems() async throws {
        let folder = try TestFolder()
        try folder.write("http: { listen: 80 }\nqueue: { policy: full }\n", to: "sluice.yaml")
        let errors = [
            "sluice.yaml:1:17: error: http.listen: expected a text, found a number; put it in quotation marks [wrong-type]",
            "sluice.yaml:2:18: error: queue.policy: expected one of wait, spill, dropNewest, dropOldest, found 'full'"
                + " [invalid-value]",
        ]
        let warning =
            "warning: SLUICE_HTTP_LISEN: no setting has this environment variable; did you mean SLUICE_HTTP_LISTEN?"
        let environment = ["SLUICE_HTTP_LISEN": "a"]
        let check = ["config", "check", "--config", "sluice.yaml"]
        let run = try await Sluice.run(check, in: folder, environment: environment)
        #expect(run.ending == .exit(1))
        #expect(run.output == errors + [warning + " [unknown-variable]"])
        #expect(run.errors == ["3 problems"])
        let serve = try await Sluice.run(["serve", "--config", "sluice.yaml"], in: folder, environment: environment)
        #expect(serve.ending == .exit(1))
        #expect(serve.errors == errors)

        try folder.write("", to: "sluice.yaml")
        let valid = try await Sluice.run(check, in: folder, environment: environment)
        #expect(valid.ending == .exit(0))
        #expect(valid.output == [warning + " [unknown-variable]", "sluice.yaml: 1 warning"])
        #expect(try await Sluice.run(check, in: folder).output == ["sluice.yaml: no problems"])
    }

    @Test("check reads a file from a pipe")
    func pipe() async throws {
        let program = try SluiceProcess.executable().path
        let line = "'\(program)' config check --config <(echo 'log: { level: loud }')"
        #expect(try await Command.run("bash", ["-c", line]).text.contains(":1:15: error: log.level: expected one of"))
    }

    @Test("show prints the value of every setting and where it comes from, as a table and as JSON")
    func show() async throws {
        let folder = try TestFolder()
        try folder.write(
            "http:\n  proxies: [10.0.0.1]\nprivacy: { hashKey: geheim-geheim-geheim }\n",
            to: "sluice.yaml"
        )
        let arguments = ["config", "show", "--config", "sluice.yaml", "--log-level", "debug"]
        let environment = ["SLUICE_HTTP_LISTEN": "127.0.0.1:82"]
        let table = try await Sluice.run(arguments, in: folder, environment: environment)
        #expect(table.ending == .exit(0))
        let rows = table.output.map { $0.split(separator: " ") }
        #expect(rows.count > 80)
        for row in [
            ["log.level", "debug", "--log-level"], ["http.listen", "127.0.0.1:82", "SLUICE_HTTP_LISTEN"],
            ["http.proxies", "10.0.0.1", "sluice.yaml:2"], ["privacy.hashKey", "***", "sluice.yaml:3"],
        ] {
            #expect(rows.contains { $0.map(String.init) == row }, "\(row)")
        }

        let run = try await Sluice.run(arguments + ["--json"], in: folder, environment: environment)
        let json = try JSONDecoder().decode(
            [String: [Setting]].self,
            from: Data(run.output.joined(separator: "\n").utf8)
        )
        let settings = json["settings"] ?? []
        #expect(settings.count == rows.count)
        let level = settings.first { $0.key == "log.level" }
        #expect(level?.source == "option")
        #expect(level?.place == "--log-level")
        #expect(level?.value == .text("debug"))
        for (key, value) in [
            ("http.proxies", .list(["10.0.0.1"])), ("http.open", .flag(false)),
            ("http.maximumEvents", .number(100_000)),
            ("privacy.hashKey", .text("***")),
        ] as [(String, Value)] {
            #expect(settings.first { $0.key == key }?.value == value, "\(key)")
        }
        #expect(!(table.output + run.output).contains { $0.contains("geheim") })
    }

    @Test("the example is a valid configuration file")
    func example() async throws {
        let folder = try TestFolder()
        try folder.write(try await Sluice.output(of: ["config", "example"]), to: "example.yaml")
        let run = try await Sluice.run("config", "check", "--config", "example.yaml", in: folder)
        #expect(run.output == ["example.yaml: no problems"])
    }

    private enum Value: Decodable, Equatable {
        case text(String)
        case number(Int)
        case flag(Bool)
        case list([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int.self) {
                self = .number(number)
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let list = try? container.decode([String].self) {
                self = .list(list)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    private struct Setting: Decodable {
        let key: String
        let value: Value
        let source: String
        let place: String?
    }
}
