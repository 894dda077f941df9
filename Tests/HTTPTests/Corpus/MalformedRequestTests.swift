import EventPipeline
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Sends each malformed request of the corpus.
@Suite("A corpus of malformed requests", .timeLimit(.minutes(5)))
struct MalformedRequestTests {
    @Test(
        "a malformed request gets its answer, its connection stays open or ends, and the next sender is served",
        .promise("malformed-http"),
        arguments: MalformedRequest.corpus
    )
    func answer(request: MalformedRequest) async throws {
        try await TestServer.run { server in
            var accepted = request.accepted
            try await RawClient.with(server.address) { client in
                try await client.send(bytes: request.bytes)
                let response = try await client.response()
                #expect(response.status == request.status)
                if let code = request.code {
                    #expect(response.body.contains(#""code":"\#(code)""#), "\(response.body)")
                }
                switch request.connection {
                case .staysOpen:
                    #expect(response.field("connection") == nil)
                    #expect(try await client.exchange(Requests.post()).status == 200)
                    accepted += 1
                case .ends:
                    #expect(response.field("connection") == "close")
                    #expect(try await client.isAtEnd())
                }
            }
            #expect(try await RawClient.with(server.address) { try await $0.exchange(Requests.post()).status } == 200)
            #expect(server.pipeline.statistics.accepted == accepted + 1)
        }
    }
}
