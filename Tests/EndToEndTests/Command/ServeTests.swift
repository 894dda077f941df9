import Foundation
import ServerTestSupport
import Testing

/// `sluice serve` from outside: its answers, output and exit status.
@Suite("sluice serve", .timeLimit(.minutes(5)))
struct ServeTests {
    @Test(
        "the valid traceparent of a request is in the context of its events, if that is asked for",
        arguments: [true, false]
    )
    func traceparent(isRecorded: Bool) async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        let environment = ["SLUICE_HTTP_RECORD_TRACEPARENT": "\(isRecorded)"]
        let server = try await ServingSluice.start(in: folder, plan: "plan", environment: environment)
        let valid = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let event = #"{"name":"Sold","payload":{"quantity":1}}"#
        for fields in [["-H", valid], ["-H", "traceparent: 00-x-y-01"], ["-H", valid, "-H", valid], []] {
            let options = ["-H", "Content-Type: application/json", "--data-binary", event] + fields
            #expect(try await server.request("/v1/events", options).status == 200)
        }
        try await server.process.output?.waitForLines(4)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let context = #""context":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}"#
        let lines = server.process.output?.lines ?? []
        #expect(lines.map { $0.contains(context) } == [isRecorded, false, false, false])
        #expect(lines.map { $0.contains("traceparent") } == [isRecorded, false, false, false])
    }

    private static let good = #"{"name":"Sold","id":"00000000-0000-7000-8000-000000000001","payload":{"quantity":1}}"#
    private static let bad = #"{"name":"Sold","payload":{"quantity":0}}"#

    private func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        return folder
    }

    @Test("each kind of body gets the documented answer, and accepted events appear on the console")
    func answers() async throws {
        let folder = try folder()
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        let one = try await server.post(Self.good)
        #expect(one.status == 200)
        #expect(one.body == #"{"accepted":1,"rejected":[]}"#)
        let line = try await server.process.output?.line(containing: "Sold") ?? ""
        #expect(line.hasPrefix(#"{"id":"00000000-0000-7000-8000-000000000001","name":"Sold","time":""#))
        #expect(line.hasSuffix(#""payload":{"quantity":1}}"#))

        let mixed = try await server.post("[\(Self.bad),\(Self.good)]")
        #expect(mixed.status == 200)
        #expect(
            mixed.body.hasPrefix(#"{"accepted":1,"rejected":[{"index":0,"id":null,"errors":[{"code":"out-of-range""#)
        )
        #expect(mixed.body.contains(#""path":"$.payload.quantity""#))
        #expect(mixed.body.contains(#""plan":"plan/shop.plist:"#))

        let none = try await server.post(Self.bad)
        #expect(none.status == 422)
        let lines = try await server.post("\(Self.good)\n{broken\n\(Self.good)\n", type: "application/x-ndjson")
        #expect(lines.status == 200)
        #expect(lines.body.contains(#""accepted":2,"rejected":[{"index":1,"#))
        #expect(lines.body.contains("malformed-json"))
        try folder.write(Data(try await Requests.gzip("\(Self.good)\n")), to: "one.gz")
        let gzip = try await server.post(file: folder.path("one.gz"), "-H", "Content-Encoding: gzip")
        #expect(gzip.status == 200)
        try await server.process.output?.waitForLines(5)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(folder.quarantined().count == 3)
    }

    @Test("rejected events that the quarantine could not store are counted at the end")
    func lostRejections() async throws {
        let server = try await ServingSluice.start(
            in: try folder(),
            plan: "plan",
            environment: ["SLUICE_QUARANTINE_CAPACITY_IN_BYTES": "9"]
        )
        #expect(try await server.post("[\(Self.bad),\(Self.bad)]").status == 422)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(server.process.errors.lines.contains("2 rejected events could not be kept in the quarantine."))
    }

    @Test("a request without valid events gets the documented status, with a JSON body")
    func refusals() async throws {
        let folder = try folder()
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        try folder.write(String(repeating: Self.good + "\n", count: 100_000), to: "large")
        let answers = [
            (400, try await server.post("{broken")),
            (413, try await server.post(file: folder.path("large"))),
            (415, try await server.post(Self.good, type: "text/html")),
            (404, try await server.request("/v1/event")),
            (405, try await server.request("/v1/events")),
        ]
        for (status, answer) in answers {
            #expect(answer.status == status)
            #expect(answer.body.hasPrefix(#"{"error":{"code":""#))
        }
        try await server.waitUntilReady()
        #expect(try await server.request("/livez").status == 200)
        #expect(try await server.request("/readyz").status == 200)
    }

    @Test("a SIGTERM right after the line with the address exits with 0")
    func stoppedAtOnce() async throws {
        let folder = try folder()
        for _ in 0..<10 {
            let server = try await ServingSluice.start("--no-journal", in: folder, plan: "plan")
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
        }
    }

    @Test("SIGTERM and SIGINT drain accepted events and exit with 0", arguments: [SIGTERM, SIGINT])
    func shutdown(_ signal: Int32) async throws {
        let folder = try folder()
        // With a linger of an hour, events are delivered only because of the shutdown.
        let environment = ["SLUICE_DELIVERY_LINGER_MILLISECONDS": "3600000"]
        let server = try await ServingSluice.start(in: folder, plan: "plan", environment: environment)
        try folder.write(String(repeating: Self.good + "\n", count: 5_000), to: "lines")
        #expect(try await server.post(file: folder.path("lines")).status == 200)
        server.process.send(signal)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(server.process.output?.lines.count == 5_000)
        #expect(server.process.errors.lines.last == "Stopped. 5000 events accepted; console: 5000 delivered.")
    }

    @Test("without a journal, events that cannot be delivered in time are counted, and the exit status is still 0")
    func undelivered() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start(
            "--no-journal",
            "--postgres",
            "postgres://127.0.0.1:1/none",
            in: folder,
            environment: ["SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "0"]
        )
        try await server.waitUntilReady()
        let lines = try await RetailMonth.dayLines(7).joined(separator: "\n")
        #expect(try await server.post(lines, type: "application/x-ndjson").status == 200)
        try await server.process.output?.waitForLines(7)
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        let said = server.process.errors.lines
        #expect(
            said.last == "Stopped. 7 events accepted; console: 7 delivered; postgres: 0 delivered, 7 NOT delivered."
        )
        #expect(said.contains { $0.contains("events=7 tracker=postgres") && $0.contains("not delivered") })
    }

    @Test("a port in use is a clear error")
    func portInUse() async throws {
        let folder = try folder()
        let first = try await ServingSluice.start(in: folder, plan: "plan")
        let address = String(first.url.dropFirst("http://".count))
        let run = try await Sluice.run(
            "serve",
            "--listen",
            address,
            "--events",
            "plan",
            "--journal",
            "another",
            in: folder
        )
        #expect(run.ending == .exit(1))
        #expect(run.errors.last?.contains("Cannot listen on \(address)") == true)
        #expect(run.errors.last?.contains("Address already in use") == true)
        #expect(try await first.post(Self.good).status == 200)
    }

    @Test("by default, it keeps a journal in the current folder, and an error names the process that has it open")
    func journalByDefault() async throws {
        let folder = try folder()
        let first = try await ServingSluice.start(in: folder, plan: "plan")
        #expect(try await first.post(Self.good).status == 200)
        let second = try await Sluice.run("serve", "--listen", "127.0.0.1:0", "--events", "plan", in: folder)
        #expect(second.ending == .exit(1))
        #expect(second.errors.last?.hasPrefix("Error: The journal in 'journal' is in use by process ") == true)
        first.process.send(SIGTERM)
        #expect(try await first.process.waitForEnd() == .exit(0))
        let lines = try await Sluice.run("journal", "cat", "journal", in: folder)
        #expect(lines.output.count == 1)

        let memoryOnly = try self.folder()
        let third = try await ServingSluice.start("--no-journal", in: memoryOnly, plan: "plan")
        #expect(try await third.post(Self.good).status == 200)
        #expect(!FileManager.default.fileExists(atPath: memoryOnly.path("journal")))
    }

    @Test("a tracker that is not configured is a warning that names its events, and an error with --strict-trackers")
    func unconfigured() async throws {
        let folder = try TestFolder()
        let plan = Sluice.plan + "/retail.plist"
        let sentence = "The tracker 'postgres' is not configured, but 2 events name it: Item Purchased, Item Returned."
        let server = try await ServingSluice.start(in: folder, plan: plan)
        let warning = "Events name a tracker that is not configured."
        let line = server.process.errors.lines.first { $0.contains("tracker=postgres") && $0.hasSuffix(warning) }
        #expect(line?.contains("names=Item Purchased, Item Returned") == true, "\(server.process.errors.lines)")
        let strict = try await Sluice.run("serve", "--no-journal", "--events", plan, "--strict-trackers", in: folder)
        #expect(strict.ending == .exit(1))
        #expect(strict.errors.contains("error: \(sentence)"))
        #expect(strict.errors.contains("error: \(sentence.replacing("postgres", with: "kafka"))"))
    }
}
