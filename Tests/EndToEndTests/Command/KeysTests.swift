import Foundation
import Testing

@Suite("sluice keys", .timeLimit(.minutes(5)))
struct KeysTests {
    private static let event = #"{"name":"Order Completed","payload":{"total":1}}"#

    @Test("a running server takes a new key, a new value and a revocation without a restart")
    func lifeOfAKey() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start(in: folder)
        #expect(try await Self.status(server, key: nil) != 401)

        let first = try await Self.sluice(["keys", "new", "web"], folder)
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
        let cells = list.output.last?.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(cells == ["web", "1", "never", "Order Completed", "10/s", "1000", "https://shop.example"])
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
            (["new", ""], "name"),
        ] {
            let run = try await Sluice.run(["keys"] + arguments, in: folder)
            #expect(run.ending != .exit(0))
            #expect(run.errors.joined(separator: "\n").contains(part))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("keys.json"))) == before)
    }

    @Test("an event that a key may not send is replayed from the quarantine only if that is asked for")
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

    @Test("without keys, serve listens on loopback only, and says how to make one")
    func advice() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run(["serve", "--listen", "0.0.0.0:0", "--events", Sluice.plan], in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors.last?.contains("Make a key with 'sluice keys new NAME', or use --open") == true)
    }

    private static func status(_ server: ServingSluice, key: String?) async throws -> Int {
        let fields = key.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
        return try await server.request(
            "/v1/events",
            ["-H", "Content-Type: application/json", "--data-binary", event] + fields
        ).status
    }

    /// Runs a command that must succeed, and returns the first line of its output.
    private static func sluice(_ arguments: [String], _ folder: TestFolder) async throws -> String {
        let run = try await Sluice.run(arguments, in: folder)
        try #require(run.ending == .exit(0))
        return run.output.first ?? ""
    }

    /// Asks until the condition holds; the suite's time limit ends it otherwise.
    private static func until(_ condition: () async throws -> Bool) async throws {
        while try await !condition() { try Task.checkCancellation() }
    }
}
