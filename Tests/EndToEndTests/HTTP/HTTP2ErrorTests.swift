import EventPipeline
import Foundation
import ServerTestSupport
import SluiceHTTP
import TestPromises
import Testing

/// Every kind of error of a stream and of a connection, and floods of every type of frame, sent frame by frame.
@Suite("HTTP/2 errors", .timeLimit(.minutes(5)))
struct HTTP2ErrorTests {
    /// Runs the cases of a kind, and returns what the server did in each.
    private static func outcomes(of kind: String) async throws -> (
        outcomes: [(name: String, outcome: String)], accepted: Int
    ) {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        var setup = TestServer.Setup()
        setup.tls = certificate.paths
        return try await TestServer.run(setup) { server in
            let arguments = [kind, String(server.address.port), certificate.certificate]
            let lines = try await ClientScript.run("http2_errors", arguments, in: folder)
            let outcomes = try lines.map { line in
                let parts = try #require(line.firstRange(of: ": "))
                return (name: String(line[..<parts.lowerBound]), outcome: String(line[parts.upperBound...]))
            }
            return (outcomes, server.pipeline.statistics.accepted)
        }
    }

    /// The well-formed requests among the cases.
    private static let answered: Set = ["long header", "many fields", "unknown path"]

    @Test(
        "the error of a stream resets that stream, and the requests beside and after it are accepted",
        .promise("malformed-http")
    )
    func streams() async throws {
        let (outcomes, accepted) = try await Self.outcomes(of: "streams")
        #expect(outcomes.count == 42)
        for (name, outcome) in outcomes.dropLast() {
            let own =
                switch name {
                case _ where Self.answered.contains(name): "answered"
                case "window beyond 2^31-1": "flow-control"
                case "data after the end": "stream-closed"
                default: "protocol"
                }
            #expect(outcome == "\(own) accepted accepted open", "\(name)")
        }
        #expect(outcomes.last?.outcome == "accepted accepted")
        // The two good requests of each case. Those of which too much was sent were complete before, and may have been accepted.
        #expect((84...86).contains(accepted))
    }

    @Test(
        "the error of a connection ends it with GOAWAY, after complete requests were answered and the others refused",
        .promise("malformed-http")
    )
    func connection() async throws {
        let (outcomes, accepted) = try await Self.outcomes(of: "connection")
        #expect(outcomes.count == 22)
        for (name, outcome) in outcomes {
            // The last stream that may have been processed, the code, and the three requests.
            let form =
                #/([5-9]|40\d) (protocol|frame-size|flow-control|compression|enhance-your-calm) accepted refused refused/#
            #expect(outcome.wholeMatch(of: form) != nil, "\(name): \(outcome)")
        }
        #expect(accepted == outcomes.count)
    }

    @Test("a flood of frames of any type ends its connection with ENHANCE_YOUR_CALM", .promise("malformed-http"))
    func floods() async throws {
        let (outcomes, accepted) = try await Self.outcomes(of: "floods")
        #expect(outcomes.count == 30)
        // The first one of these frames is an error by itself.
        let errors = [
            "data of an ended stream": "stream-closed", "headers of an ended stream": "protocol",
            "acknowledged settings": "protocol", "type 10": "frame-size", "type 12": "frame-size",
        ]
        for (name, outcome) in outcomes {
            #expect(outcome == "\(errors[name] ?? "enhance-your-calm") refused", "\(name)")
        }
        #expect(accepted == outcomes.count)
    }
}
