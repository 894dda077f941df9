package import EventModel
import EventPipeline
package import EventSchema
package import SluiceHTTP

/// Requests with and without keys, to a server of their own.
package enum KeyedExchange {
    /// What a test sends, and which parts of the answer it looks at.
    package struct Request: Sendable {
        package var method: String
        package var path: String
        package var type: String?
        package var fields: String
        package var body: String

        package init(
            method: String = "POST",
            path: String = "/v1/events",
            type: String? = "application/json",
            fields: String = "",
            body: String = #"{"name":"Ping"}"#
        ) {
            self.method = method
            self.path = path
            self.type = type
            self.fields = fields
            self.body = body
        }

        package var text: String {
            let type = type.map { "Content-Type: \($0)\r\n" } ?? ""
            let length = method == "GET" ? "" : "Content-Length: \(body.utf8.count)\r\n"
            return "\(method) \(path) HTTP/1.1\r\nHost: sluice.example\r\n\(type)\(length)\(fields)\r\n"
                + (method == "GET" ? "" : body)
        }
    }

    package static let plan = DialectExchange.plan(["Ping": [("n", .integer)], "Pong": []])
    package static let start = Timestamp(microseconds: 1_600_000_000_000_000)

    package static func key(
        _ name: String = "web",
        events: [String]? = nil,
        limits: WriteKey.Limits = WriteKey.Limits(),
        origins: [String] = []
    ) -> WriteKey {
        let value = WriteKey.Value(text: name + "-key", created: start)
        return WriteKey(name: name, values: [value], events: events, limits: limits, origins: origins)
    }

    package static func send(_ requests: Request..., keys: [WriteKey]?) async throws -> (
        responses: [RawClient.Response], lines: [String], quarantined: [String]
    ) {
        try await TestServer.run(TestServer.Setup(plan: plan, keys: keys)) { server in
            let responses = try await RawClient.with(server.address) { client in
                var responses: [RawClient.Response] = []
                for request in requests {
                    try await client.send(request.text)
                    responses.append(try await client.response())
                }
                return responses
            }
            await server.pipeline.flush()
            return (responses, server.delivered.lines, try await server.quarantined())
        }
    }
}
