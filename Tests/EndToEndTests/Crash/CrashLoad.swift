import Foundation
import HTTPIngest
import PipelineTestKit

/// Clients that send events, one a request, to a server that comes and goes, and note which were acknowledged.
final class CrashLoad: Sendable {
    private struct State: Sendable {
        var address: HTTPIngestServer.Address?
        var acknowledged: Set<String> = []
        var isOver = false
    }

    private let state = Watched(State())

    /// The ids of the events that were answered with 200.
    var acknowledged: Set<String> { state.value.acknowledged }

    /// Says where the server is now.
    func begin(at url: String) {
        let parts = url.dropFirst("http://".count).split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]) else { return }
        state.update { $0.address = .init(host: String(parts[0]), port: port) }
    }

    /// Lets the clients end.
    func end() {
        state.update { $0.isOver = true }
    }

    /// Waits until so many events are acknowledged, or the test's time is up.
    func waitForAcknowledged(_ count: Int) async {
        await state.wait { $0.acknowledged.count >= count }
    }

    /// An event of the retail plan; the padding makes it longer.
    static func event(id: String = UUID().uuidString.lowercased(), padding: Int = 0) -> String {
        """
        {"id":"\(id)","name":"Item Purchased","userId":"\(id.prefix(2))",\
        "context":{"padding":"\(String(repeating: "x", count: padding))"},"payload":{"invoiceNo":"536365",\
        "stockCode":"85123A","quantity":6,"unitPrice":2.55,"country":"United Kingdom"}}
        """
    }

    /// Sends until it is told to end; a connection that breaks is made anew.
    func send() async {
        while !state.value.isOver, !Task.isCancelled {
            guard let address = state.value.address else {
                await Task.yield()
                continue
            }
            try? await RawClient.with(address) { client in
                while !state.value.isOver { try await sendOne(client) }
            }
        }
    }

    private func sendOne(_ client: RawClient) async throws {
        let id = UUID().uuidString.lowercased()
        try await client.send(Requests.post(Self.event(id: id)))
        if try await client.response().status == 200 { state.update { _ = $0.acknowledged.insert(id) } }
    }
}
