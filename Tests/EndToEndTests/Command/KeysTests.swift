import EventModel
import Foundation
import ServerTestSupport
import TestPromises
import Testing

@Suite("sluice keys", .timeLimit(.minutes(5)))
struct KeysTests {
    private static let event = #"{"name":"Order Completed","payload":{"total":1}}"#

    @Test("a running server takes a new key, a new value and a revocation without a restart", .promise("key-changes"))
    func lifeOfAKey() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start(in: folder)
        #expect(try await Self.status(server, key: nil) != 401)

        // The first key locks out everyone who has none, so it has to be asked for explicitly.
        let refused = try await Sluice.run("keys", "new", "web", in: folder)
        #expect(refused.ending == .exit(1))
        #expect(refused.errors.last?.contains("it will reject all senders without one") == true, "\(refused.errors)")
        #expect(try await Self.status(server, key: nil) != 401)
        let made = try await Sluice.run("keys", "new", "web", "--yes", in: folder)
        #expect(made.errors.first?.hasPrefix("warning: This is the first key in 'keys.json'.") == true)
        #expect(made.errors.last == "Senders state it in a header: Authorization: Bearer KEY")
        let first = try #require(made.output.first)
        try await Self.until { try await Self.status(server, key: nil) == 401 }
        #expect(try await Self.status(server, key: first) != 401)

        let second = try await Self.sluice(["keys", "rotate", "web"], folder)
        #expect(second != first)
        try await Self.until { try await Self.status(server, key: second) != 401 }
        #expect(try await Self.status(server, key: first) != 401)

        _ = try await Self.sluice(["keys", "revoke", "web", "--keep-latest"], folder)
        try await Self.until { try await Self.status(server, key: first) == 401 }
        #expect(try await Self.status(server, key: second) != 401)

        _ = try await Self.sluice(["keys", "revoke", "web"], folder)
        try await Self.until { try await Self.status(server, key: second) == 401 }
        #expect(try await Self.status(server, key: nil) == 401)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("a key is shown once; the file and the list do not contain it")
    func secrecy() async throws {
        let folder = try TestFolder()
        let made = try await Sluice.run(
            [
                "keys", "new", "web", "--allow", "Order Completed", "--rate", "10", "--daily", "1000", "--origin",
                "https://shop.example",
            ],
            in: folder
        )
        #expect(made.ending == .exit(0))
        let key = try #require(made.output.first)
        #expect(made.output.count == 1)
        #expect(key.hasPrefix("sluice_") && key.count == 50)
        let file = try String(contentsOfFile: folder.path("keys.json"), encoding: .utf8)
        #expect(!file.contains(key))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("keys.json"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let list = try await Sluice.run(["keys", "list"], in: folder)
        #expect(list.output.count == 2)
        #expect(
            try await Self.row(folder) == [
                "web", "1", "never", "Order Completed", "10/s", "1000", "https://shop.example",
            ]
        )
        #expect(!list.output.joined().contains(key))
    }

    @Test("wrong names, limits and origins are refused, and change nothing")
    func refusals() async throws {
        let folder = try TestFolder()
        _ = try await Self.sluice(["keys", "new", "web"], folder)
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.path("keys.json")))
        for (arguments, part) in [
            (["new", "web"], "There is a key 'web' already"),
            (["revoke", "app"], "There is no key 'app'; there are: web."),
            (["rotate", "app"], "There is no key 'app'"), (["new", "app", "--origin", "shop.example"], "shop.example"),
            (["new", "app", "--rate", "0"], "limits"), (["new", "app", "--expires", "tomorrow"], "RFC 3339"),
            (["new", "app", "--expires", "2020-01-01T00:00:00Z"], "--expires takes a time in the future"),
            (["rotate", "web", "--expires", "2020-01-01T00:00:00Z"], "--expires takes a time in the future"),
            (["new", ""], "name"), (["change", "app"], "There is no key 'app'"),
            (["change", "web", "--rate=-1"], "limits"),
        ] {
            let run = try await Sluice.run(["keys"] + arguments, in: folder)
            #expect(run.ending != .exit(0))
            #expect(run.errors.joined(separator: "\n").contains(part))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("keys.json"))) == before)
    }

    @Test("an event that a key may not send is replayed from the quarantine only on request", .promise("key-limits"))
    func forbiddenEvent() async throws {
        let folder = try TestFolder()
        let key = try await Self.sluice(["keys", "new", "web", "--allow", "Item Returned"], folder)
        let server = try await ServingSluice.start(in: folder)
        let payload =
            #"{"invoiceNo":"536365","stockCode":"85123A","quantity":6,"unitPrice":2.55,"country":"United Kingdom"}"#
        let event = #"{"name":"Item Purchased","payload":\#(payload)}"#
        let answer = try await server.post(event, "-H", "Authorization: Bearer \(key)")
        #expect(answer.status == 422)
        #expect(answer.body.contains(#""forbidden-event":1"#))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))

        let others = try await Sluice.replay("quarantine", in: folder)
        #expect(try others.report().read == 0)
        let asked = try await Sluice.replay("quarantine", "--code", "forbidden-event", in: folder)
        #expect(try asked.report().accepted == 1)
    }

    @Test("rotate keeps the time of expiry, unless another one is stated")
    func rotatedExpiry() async throws {
        let folder = try TestFolder()
        _ = try await Self.sluice(["keys", "new", "partner", "--expires", "2099-12-31T00:00:00Z"], folder)
        _ = try await Self.sluice(["keys", "rotate", "partner"], folder)
        #expect(try await Self.expiries(folder).last == "2099-12-31T00:00:00Z")
        _ = try await Self.sluice(["keys", "rotate", "partner", "--expires", "2100-01-01T00:00:00Z"], folder)
        #expect(try await Self.expiries(folder).last == "2100-01-01T00:00:00Z")
    }

    @Test("rotate gives an expired key a new value only with a new time of expiry")
    func rotatedAfterExpiry() async throws {
        let folder = try TestFolder()
        let digest = String(repeating: "0", count: 64)
        let value = #"{"sha256":"\#(digest)","created":"2020-01-01T00:00:00Z","expires":"2020-02-01T00:00:00Z"}"#
        try folder.write(#"{"keys":[{"name":"partner","values":[\#(value)]}]}"#, to: "keys.json")
        let refused = try await Sluice.run(["keys", "rotate", "partner"], in: folder)
        #expect(refused.ending == .exit(1))
        #expect(refused.output.isEmpty)
        let sentence = "The latest value of the key 'partner' expired at 2020-02-01T00:00:00Z"
        #expect(refused.errors.joined().contains(sentence))
        #expect(refused.errors.joined().contains("--expires"))
        #expect(try await Self.expiries(folder) == ["2020-02-01T00:00:00Z"])

        let expires = "2099-12-31T00:00:00Z"
        let rotated = try await Sluice.run(["keys", "rotate", "partner", "--expires", expires], in: folder)
        #expect(rotated.ending == .exit(0))
        #expect(rotated.errors.joined().contains("no earlier value is valid"))
        #expect(try await Self.expiries(folder) == [expires])
    }

    @Test("rotate says until when earlier values are really valid")
    func validityOfEarlierValues() async throws {
        let folder = try TestFolder()
        let soon = Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000, fractionDigits: 0)
        _ = try await Self.sluice(["keys", "new", "partner", "--expires", "\(soon)"], folder)
        let rotated = try await Sluice.run(["keys", "rotate", "partner"], in: folder)
        #expect(rotated.errors.joined().contains("earlier values are valid until \(soon)"))
        let atOnce = try await Sluice.run(["keys", "rotate", "partner", "--keep-hours", "0"], in: folder)
        #expect(atOnce.errors.joined().contains("no earlier value is valid"))
    }

    @Test("an event that the plan does not have is a warning, if the plan can be read")
    func unknownEvents() async throws {
        let folder = try TestFolder()
        let here = try await Sluice.run(["keys", "new", "web", "--allow", "Item Purchasd"], in: folder)
        #expect(here.ending == .exit(0))
        #expect(!here.errors.joined().contains("has no event"))
        let config = try folder.write("events:\n  directory: \(Sluice.plan)\n", to: "sluice.yaml")
        for arguments in [["new", "app"], ["change", "web"]] {
            let names = ["--allow", "Item Purchasd", "--allow", "Item Returned", "--config", config]
            let run = try await Sluice.run(["keys"] + arguments + names, in: folder)
            #expect(run.ending == .exit(0))
            let warnings = run.errors.filter { $0.contains("warning") }
            #expect(warnings.count == 1)
            #expect(warnings.first?.contains("has no event 'Item Purchasd'; did you mean 'Item Purchased'?") == true)
        }
    }

    @Test("change replaces what its options name, and nothing else")
    func change() async throws {
        let folder = try TestFolder()
        let key = [
            "keys", "new", "web", "--allow", "A", "--rate", "10", "--burst", "20", "--origin", "https://a.example",
        ]
        _ = try await Self.sluice(key, folder)
        _ = try await Self.sluice(["keys", "change", "web", "--daily", "5", "--allow-all"], folder)
        #expect(try await Self.row(folder) == ["web", "1", "never", "all", "10/s", "5", "https://a.example"])
        _ = try await Self.sluice(["keys", "change", "web", "--daily", "0", "--rate", "0", "--no-origins"], folder)
        #expect(try await Self.row(folder) == ["web", "1", "never", "all", "any", "any", "none"])
    }

    @Test("a value that is imported again gets the new time of expiry; limits are refused, because the key has its own")
    func importedTwice() async throws {
        let folder = try TestFolder()
        let text = try folder.write("write-key-of-clients", to: "key.txt")
        func importing(_ name: String, _ options: String...) async throws -> Finished {
            let input = SluiceProcess.Input.file(URL(fileURLWithPath: text))
            return try await Sluice.run(["keys", "import", name] + options, in: folder, input: input)
        }
        #expect(try await importing("shop", "--expires", "2030-01-01T00:00:00Z").ending == .exit(0))
        #expect(try await importing("shop").ending == .exit(0))
        #expect(try await Self.expiries(folder) == [nil])
        let limited = try await importing("shop", "--daily", "5")
        #expect(limited.ending == .exit(1))
        #expect(limited.errors.last?.contains("'sluice keys change'") == true)
        let other = try await importing("other")
        #expect(other.errors.joined().contains("A value of the key 'other' is also one of 'shop'."))
        #expect(try await Self.expiries(folder) == [nil])
    }

    @Test("a file with keys that is named must exist, and cannot be combined with --open")
    func namedFile() async throws {
        let folder = try TestFolder()
        let serve = ["serve", "--listen", "127.0.0.1:0", "--events", Sluice.plan, "--keys", "none.json"]
        let missing = try await Sluice.run(serve, in: folder)
        #expect(missing.ending == .exit(1))
        #expect(missing.errors.last?.contains("'none.json' with the write keys does not exist") == true)
        let open = try await Sluice.run(serve + ["--open"], in: folder)
        #expect(open.ending != .exit(0))
        #expect(open.errors.joined().contains("http.keys names a file"))
    }

    @Test(
        "a damaged file with keys is an error that says what is wrong, for the commands and for serve",
        arguments: [
            ("{", "it is not JSON"), ("", "it is not JSON"), ("[]", "the document has another type than it should"),
            ("{}", "'keys' is missing"), (#"{"keys":[{"name":"a"}]}"#, "'keys[0].values' is missing"),
            (
                #"{"keys":[{"name":"a","values":[{"sha256":7,"created":"2020-01-01T00:00:00Z"}]}]}"#,
                "'keys[0].values[0].sha256' has another type than it should"
            ),
        ]
    )
    func damagedFile(text: String, reason: String) async throws {
        let folder = try TestFolder()
        try folder.write(text, to: "keys.json")
        for arguments in [["keys", "list"], ["serve", "--listen", "127.0.0.1:0", "--events", Sluice.plan]] {
            let run = try await Sluice.run(arguments, in: folder)
            #expect(run.ending == .exit(1))
            let error = try #require(run.errors.last)
            let sentence = "keys.json' cannot be used: It is damaged, or not a file of 'sluice keys': \(reason)."
            #expect(error.contains(sentence))
            #expect(!error.contains("DecodingError"))
        }
    }

    @Test("a certificate that is missing is an error in the system's words")
    func missingCertificate() async throws {
        let folder = try TestFolder()
        let serve = ["serve", "--listen", "127.0.0.1:0", "--events", Sluice.plan]
        let run = try await Sluice.run(serve + ["--certificate", "a.pem", "--private-key", "b.pem"], in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors.last?.contains("a.pem' cannot be read: No such file or directory.") == true)
    }

    @Test("without keys, serve listens on loopback only, and says how to make one")
    func advice() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run(["serve", "--listen", "0.0.0.0:0", "--events", Sluice.plan], in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors.last?.contains("Make a key with 'sluice keys new NAME', or use --open") == true)
        #expect(!run.errors.joined().contains("There are no write keys"), "it does not listen")
    }

    private static func status(_ server: ServingSluice, key: String?) async throws -> Int {
        let fields = key.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        return try await server.request(
            "/v1/events",
            ["-H", "Content-Type: application/json", "--data-binary", event] + fields
        ).status
    }

    /// The times of expiry of the only key's values, as the file has them.
    private static func expiries(_ folder: TestFolder) async throws -> [String?] {
        let list = try await Sluice.run(["keys", "list", "--json"], in: folder)
        let file = try JSONSerialization.jsonObject(with: Data(list.output.joined().utf8)) as? [String: Any]
        let keys = try #require(file?["keys"] as? [[String: Any]])
        return (keys.first?["values"] as? [[String: Any]] ?? []).map { $0["expires"] as? String }
    }

    /// The cells of the last line of `keys list`.
    private static func row(_ folder: TestFolder) async throws -> [String] {
        let list = try await Sluice.run(["keys", "list"], in: folder)
        let cells = try #require(list.output.last).split(separator: "  ")
        return cells.map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Runs a command that must succeed, and returns the first line of its output.
    private static func sluice(_ arguments: [String], _ folder: TestFolder) async throws -> String {
        let run = try await Sluice.run(arguments, in: folder)
        try #require(run.ending == .exit(0))
        return run.output.first ?? ""
    }

    /// Asks until the condition holds; the suite's time limit ends it otherwise.
    private static func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try await waitBriefly() }
    }
}
