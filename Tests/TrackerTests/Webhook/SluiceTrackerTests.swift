import EventModel
import EventPipeline
import EventValidation
import ServerTestSupport
import SluiceHTTP
import SluiceTesting
import SluiceWebhook
import TestSupport
import Testing
import TrackerKit

/// Forwarding to a real server, in the process of the tests.
@Suite("A tracker that forwards events to another Sluice", .timeLimit(.minutes(5)))
struct SluiceTrackerTests {
    /// The ids of the events that the other Sluice has delivered to its tracker.
    private static func delivered(by server: TestServer) async throws -> [EventID] {
        await server.pipeline.flush()
        return try server.delivered.lines.map { line in
            // After `{"id":"`.
            try #require(EventID(String(line.dropFirst(7).prefix(36))))
        }
    }

    @Test("meets the tracker contract")
    func contract() async throws {
        let setup = TestServer.Setup(plan: TrackerContract.plan(trackerName: "collecting"))
        try await TestServer.run(setup) { server in
            let proxy = try SilentProxy(to: server.address.port)
            try await TrackerContract(
                // Connections that are made after the silent one are not affected.
                outage: .init(begin: { proxy.goSilent(afterBytes: 1) }, end: {}),
                makeTracker: { SluiceTracker(SluiceConfiguration(url: "http://127.0.0.1:\(proxy.port)")) },
                delivered: { try await Self.delivered(by: server) }
            ).verify()
            #expect(try await server.quarantined().isEmpty)
        }
    }

    @Test(
        "with https, all requests share one connection, as only HTTP/2 allows; with http, each has one",
        arguments: [true, false]
    )
    func http2(isEncrypted: Bool) async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        let setup = TestServer.Setup(tls: isEncrypted ? certificate.paths : nil)
        try await TestServer.run(setup) { server in
            let proxy = try SilentProxy(to: server.address.port)
            var configuration = WebhookConfiguration(
                url: "\(isEncrypted ? "https" : "http")://127.0.0.1:\(proxy.port)/v1/events"
            )
            configuration.format = .single
            configuration.receiver.concurrency = 8
            configuration.receiver.caFile = certificate.certificate
            let tracker = WebhookTracker(configuration)
            let catalog = EventCatalog.scripted(["Ping": ["webhook"]])
            try await tracker.start(for: catalog)
            // The protocol is known only after the first request.
            for count in [1, 400] {
                let events = (0..<count).map { number in
                    var event = ScriptedEvent("Ping", number: number, payload: #"{"n":\#(number)}"#)
                    event.userID = "user-\(number)"
                    return event
                }
                let outcome = await tracker.deliver(
                    Delivery([EventSlice(EventBatch.scripted(catalog: catalog, events: events))])
                )
                #expect(outcome.retry == nil, "\(String(describing: outcome.retry?.reason))")
                #expect(outcome.refusals.isEmpty)
            }
            await tracker.stop()
            #expect(try await Self.delivered(by: server).count == 401)
            if isEncrypted {
                #expect(proxy.connectionCount == 1)
            } else {
                #expect(proxy.connectionCount > 1)
            }
        }
    }
}
