import Foundation
import ServerTestSupport
import TestSupport
import Testing

extension TrackerScene {
    /// What a destination says about an event that it refuses.
    private static let words = [
        "postgres": "violates check constraint", "kafka": "Broker: Message size too large",
        "crm": "Returns belong elsewhere.", "partner": "status 422: the event has ",
        "centre": "out-of-range at $.payload.quantity",
    ]

    /// Checks that every destination has each acknowledged event that it does not refuse, and the quarantine the others.
    func check() async throws {
        try await waitForRsyslog()
        try await centre.end()
        for (tracker, found) in try await delivered() {
            let expected = acknowledged.subtracting(refused[tracker] ?? [])
            let missing = expected.subtracting(found)
            #expect(missing.isEmpty, "\(tracker) lacks \(missing.count) of \(expected.count) events")
            let strange = Set(found).subtracting(expected)
            #expect(strange.isEmpty, "\(tracker) has \(strange.count) events that it should not have")
        }
        try await checkRows()
        checkQuarantine()
        let verified = try await ClientScript.run(
            "webhook_signatures",
            [receiver.requestsFile, Self.secret],
            in: folder
        )
        #expect(verified == ["\(try receiver.requests.count)"])
    }

    /// The ids of the events that each tracker has delivered, some of them more than once.
    private func delivered() async throws -> [String: [String]] {
        let archive = (FileManager.default.subpaths(atPath: folder.path("disk")) ?? []).filter { $0.hasSuffix(".gz") }
        #expect(archive.count > 2)
        let unpacked = try await Command.run("gunzip", ["-c"] + archive.map { folder.path("disk/\($0)") })
        #expect(unpacked.status == 0)
        return [
            "console": Self.ids(in: servers.flatMap { $0.process.output?.lines ?? [] }),
            "postgres": try await rows(of: database, in: "analytics"),
            "kafka": try await cluster.messages(in: "events").map { $0.header("ce_id") ?? "a message without an id" },
            "crm": Self.ids(in: folder.lines(of: "crm")),
            "lake": ["purchased", "returned"].flatMap { Self.ids(in: folder.lines(of: "lake/item_\($0).jsonl")) },
            "warehouse": try await rows(of: warehouse, in: "public"),
            "archive": Self.ids(in: unpacked.text.split(separator: "\n").map(String.init)),
            "partner": try receiver.requests.flatMap { request in
                request.body.matches(of: /"id":"([^"]*)","name":"/).map { String($0.1) }
            },
            "centre": try await rows(of: centre.database, in: "analytics"),
            "logs": Self.ids(in: rsyslog.lines),
        ]
    }

    /// Checks that the databases have each row once, and that target-postgres has stored the same values as Sluice.
    private func checkRows() async throws {
        let stored = acknowledged.subtracting(refused["postgres"] ?? [])
        // The primary key hides repeated inserts; the log of the inserts does not.
        #expect(try await database.notedInserts() == stored.sorted())
        #expect(try await rows(of: warehouse, in: "public").count == acknowledged.count)
        #expect(
            try await rows(of: centre.database, in: "analytics").count
                == acknowledged.subtracting(refused["centre"] ?? []).count
        )
        let others = (refused["postgres"] ?? []).map { "'\($0)'" }.joined(separator: ", ")
        for table in ["item_purchased", "item_returned"] {
            let facts = "SELECT count(*), sum(%quantity), trim_scale(round(sum(%price)::numeric, 2)) FROM"
            let own = facts.replacing("%quantity", with: "quantity").replacing("%price", with: "unit_price")
            let other = facts.replacing("%quantity", with: "payload__quantity")
                .replacing("%price", with: #""payload__unitPrice""#)
            let expected = try await database.run("\(own) analytics.\(table)")
            #expect(try await warehouse.run("\(other) \(table) WHERE id NOT IN (\(others))") == expected)
        }
    }

    private func rows(of database: TestDatabase, in schema: String) async throws -> [String] {
        try await database.run(
            "SELECT id FROM \(schema).item_purchased UNION ALL SELECT id FROM \(schema).item_returned"
        )
    }

    /// Checks that the quarantine has the refused events, each with its tracker and what the destination said.
    private func checkQuarantine() {
        let expected = refused.mapValues { $0.intersection(acknowledged) }
        #expect(expected.values.allSatisfy { !$0.isEmpty })
        var found: [String: Set<String>] = [:]
        for line in folder.quarantined() {
            guard let tracker = line.firstMatch(of: /"source":"tracker:(\w+)"/).map({ String($0.1) }),
                let id = line.firstMatch(of: /"event":{"id":"([^"]+)"/).map({ String($0.1) })
            else {
                Issue.record("The quarantine has an event that no tracker has refused: \(line)")
                continue
            }
            #expect(line.contains(Self.words[tracker] ?? "a tracker that refuses nothing"), "\(line)")
            found[tracker, default: []].insert(id)
        }
        #expect(found == expected)
    }

    /// Checks that a server that has ended has left nothing but what it delivered, its journal and its quarantine.
    func checkLeftovers() throws {
        #expect(processes == [])
        let outputs: Set = ["crm", "crm.process", "hanging", "journal", "lake", "processes", "quarantine"]
        #expect(try names().subtracting(inputs) == outputs)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("disk")) == ["archive"])
        let archived = try FileManager.default.contentsOfDirectory(atPath: folder.path("disk/archive"))
        #expect(Set(archived) == ["Item Purchased", "Item Returned"])
    }

    /// The processes that run in the folder, or began there: the server, its programs, and theirs.
    var processes: [pid_t] {
        #if os(Linux)
        let own = folder.url.resolvingSymlinksInPath().path
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.compactMap { pid_t($0) }.filter { process in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")) == own
        }
        #else
        return folder.lines(of: "processes").compactMap { pid_t($0) }.filter(isRunning)
        #endif
    }

    /// The ids of events that are lines of JSON; a line that a killed process has not completed has none.
    static func ids(in lines: [String]) -> [String] {
        struct Line: Decodable { let id: String }
        return lines.compactMap { try? JSONDecoder().decode(Line.self, from: Data($0.utf8)).id }
    }
}
