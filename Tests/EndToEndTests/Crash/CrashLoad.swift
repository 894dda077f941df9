import Foundation
import ServerTestSupport
import SluiceHTTP
import SluiceTesting

/// Clients that send one event per request to a server that may be down, and record the acknowledged events.
final class CrashLoad: Sendable {
    private struct State: Sendable {
        var address: IngestServer.Address?
        var sent: Set<String> = []
        var acknowledged: Set<String> = []
        var isOver = false
    }

    private let state = Watched(State())

    /// The ids of the events that were answered with 200.
    var acknowledged: Set<String> { state.value.acknowledged }

    /// The ids of all events that were created, whether or not they were sent or accepted.
    var sent: Set<String> { state.value.sent }

    /// Sets the server's current address.
    func begin(at url: String) {
        let parts = url.dropFirst("http://".count).split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]) else { return }
        state.update { $0.address = .init(host: String(parts[0]), port: port) }
    }

    /// Ends the clients.
    func end() {
        state.update { $0.isOver = true }
    }

    /// Waits until at least `count` events are acknowledged, or the test's time limit has passed.
    func waitForAcknowledged(_ count: Int) async {
        await state.wait { $0.acknowledged.count >= count }
    }

    /// Creates an event of the retail plan, which counts as sent; the padding makes it longer.
    func event(padding: Int = 0) -> (id: String, text: String) {
        let id = UUID().uuidString.lowercased()
        state.update { _ = $0.sent.insert(id) }
        let text = """
            {"id":"\(id)","name":"Item Purchased","userId":"\(id.prefix(2))",\
            "context":{"padding":"\(String(repeating: "x", count: padding))"},"payload":{"invoiceNo":"536365",\
            "stockCode":"85123A","quantity":6,"unitPrice":2.55,"country":"United Kingdom"}}
            """
        return (id, text)
    }

    /// Sends events until `end` is called; reconnects after a connection fails.
    func send() async {
        while !state.value.isOver, !Task.isCancelled {
            guard let address = state.value.address else {
                try? await waitBriefly()
                continue
            }
            try? await RawClient.with(address) { client in
                while !state.value.isOver { try await sendOne(client) }
            }
        }
    }

    private func sendOne(_ client: RawClient) async throws {
        let (id, event) = event()
        try await client.send(Requests.post(event))
        if try await client.response().status == 200 { state.update { _ = $0.acknowledged.insert(id) } }
    }
}
