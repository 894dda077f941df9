import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// The responses to bodies with many rejected events.
@Suite("HTTP answers to many rejected events", .timeLimit(.minutes(5)))
struct RejectionAnswerTests {
    /// The maximum size of a response with any settings.
    private static let maximumBytes = 256 << 10

    private static func explaining(_ maximum: Int) -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.http.maximumExplainedRejections = maximum
        return setup
    }

    @Test(
        "a response explains 100 events, and lists all indexes as ranges and the number of events for each code",
        .promise("many-invalid-events")
    )
    func explained() async throws {
        let events = (0..<300).map { $0 % 2 == 0 ? Requests.ping : $0 < 100 ? "{}" : #"{"name":"Nothing","userId":1}"# }
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.post("[" + events.joined(separator: ",") + "]"))
                let answer = try Answer(response.body)
                #expect(response.status == 200)
                #expect(answer.accepted == 150)
                #expect(answer.rejected.map(\.index) == (0..<100).map { 2 * $0 + 1 })
                #expect(answer.rejected.last?.errors.count == 2)
                #expect(answer.rejectedCount == 150)
                #expect(answer.rejectedIndexes == (0..<150).map { [2 * $0 + 1, 2 * $0 + 1] })
                #expect(answer.rejectedCodes == ["missing-required": 50, "unknown-event": 100])
                #expect(try await server.quarantined().count == 150)
            }
        }
    }

    @Test("a response has only the usual members if nothing was rejected, and otherwise the additional ones after them")
    func compatible() async throws {
        try await TestServer.run { server in
            try await RawClient.with(server.address) { client in
                let two = try await client.exchange(Requests.post("[\(Requests.ping),\(Requests.ping)]"))
                #expect(two.body == #"{"accepted":2,"rejected":[]}"#)
                let one = try await client.exchange(Requests.post("[5]"))
                #expect(one.status == 422)
                #expect(
                    one.body.hasPrefix(
                        #"{"accepted":0,"rejected":[{"index":0,"id":null,"errors":[{"code":"wrong-type","#
                    )
                )
                let end = #"],"rejectedCount":1,"rejectedIndexes":[[0,0]],"rejectedCodes":{"wrong-type":1}}"#
                #expect(one.body.hasSuffix(end))
            }
        }
    }

    @Test("a response explains as many rejected events as the setting says", arguments: [0, 3])
    func setting(maximum: Int) async throws {
        try await TestServer.run(Self.explaining(maximum)) { server in
            try await RawClient.with(server.address) { client in
                let response = try await client.exchange(Requests.post("[5,{},5,{},5]"))
                let answer = try Answer(response.body)
                #expect(answer.rejected.map(\.index) == Array(0..<maximum))
                #expect(answer.rejectedIndexes == [[0, 4]])
                #expect(answer.rejectedCodes == ["wrong-type": 3, "missing-required": 2])
            }
        }
    }

    @Test(
        "a response never exceeds 256 KiB with any setting, and still lists every index",
        .promise("many-invalid-events")
    )
    func bounded() async throws {
        let ten = (0..<10).map { #""\#(String(repeating: "key", count: 20))\#($0)":1"# }.joined(separator: ",")
        let mistakes = #"{"name":"Ping","payload":{\#(ten)}}"#
        // Each of these characters has one byte in a reason, and six in the response.
        let controls = (0..<10).map { #""\#(String(repeating: #"\u0001"#, count: 60))\#($0)":1"# }.joined(
            separator: ","
        )
        let longer = #"{"name":"Ping","payload":{\#(controls)}}"#
        let bodies = [
            Array(repeating: mistakes, count: 2000).joined(separator: "\n"),
            Array(repeating: longer, count: 800).joined(separator: "\n"),
            // The maximum number of ranges.
            (0..<20_000).map { $0 % 2 == 0 ? Requests.ping : "5" }.joined(separator: "\n"),
        ]
        try await TestServer.run(Self.explaining(.max - 1)) { server in
            try await RawClient.with(server.address) { client in
                for (body, rejected) in zip(bodies, [2000, 800, 10_000]) {
                    let response = try await client.exchange(Requests.post(body, type: "application/x-ndjson"))
                    #expect(response.header.utf8.count + 4 + response.body.utf8.count <= Self.maximumBytes)
                    let answer = try Answer(response.body)
                    let indexes = answer.rejectedIndexes?.flatMap { $0[0]...$0[1] } ?? []
                    #expect(indexes.count == answer.rejectedCount)
                    #expect(indexes.count == rejected)
                    #expect(!answer.rejected.isEmpty)
                }
            }
        }
    }

    @Test("requests behind one with a response that fills the buffer of the connection are answered")
    func pipelined() async throws {
        var setup = Self.explaining(1000)
        setup.http.maximumAnswerBytes = 256 << 10
        try await TestServer.run(setup) { server in
            // More than one turn, so that the response is not written while the requests are being read.
            let rejected = Array(repeating: #"{"name":"Nothing"}"#, count: 1000).joined(separator: ",")
            try await RawClient.with(server.address) { client async throws in
                try await client.send(Requests.post("[" + rejected + "]") + Requests.post() + Requests.post())
                let long = try await client.response()
                #expect(long.status == 422)
                #expect(long.body.utf8.count > 64 << 10)
                for _ in 0..<2 { #expect(try await client.response().body == Requests.accepted) }
            }
        }
    }

    @Test("a limit for which the indexes would not fit into a response is refused")
    func settingsProblem() async throws {
        var setup = TestServer.Setup()
        setup.http.maximumRejections = IngestConfiguration.greatestMaximumRejections + 1
        await #expect(throws: IngestError.self) { try await TestServer.run(setup) { _ in } }
    }
}
