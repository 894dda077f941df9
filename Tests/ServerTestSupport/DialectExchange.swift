package import EventModel
import EventPipeline
package import EventSchema
package import SluiceHTTP

/// A request in the format of other clients to a server of its own, and what became of it.
package struct DialectExchange: Sendable {
    package let response: RawClient.Response
    /// The canonical lines that were delivered, without `receivedAt`.
    package let lines: [String]
    package let quarantined: [String]

    /// A plan of events with optional properties, and with any others if it is open.
    package static func plan(_ events: [String: [(String, PropertyType)]], isOpen: Bool = false) -> TrackingPlan {
        TrackingPlan(
            events: events.sorted { $0.key < $1.key }.map { name, properties in
                EventDefinition(
                    key: name,
                    trackers: ["collecting"],
                    properties: properties.map {
                        PropertyDefinition(name: $0.0, type: $0.1, isRequired: false, location: place)
                    },
                    allowsAdditionalProperties: isOpen,
                    location: place
                )
            }
        )
    }

    private static let place = PlanLocation(file: "test.plist", line: 1, column: 1)

    /// Sends a body to a server with this plan, and waits until its events are delivered.
    package static func send(
        _ body: [UInt8],
        to path: String,
        _ plan: TrackingPlan,
        type: String? = "application/json",
        fields: String = "",
        cloudEvents: IngestConfiguration.CloudEvents = IngestConfiguration.CloudEvents(),
        eventTimes: TimeWindow = TestServer.allTimes,
        configure: @Sendable (inout IngestConfiguration) -> Void = { _ in }
    ) async throws -> DialectExchange {
        var setup = TestServer.Setup(plan: plan)
        setup.http.cloudEvents = cloudEvents
        setup.eventTimes = eventTimes
        configure(&setup.http)
        return try await TestServer.run(setup) { server in
            let response = try await RawClient.with(server.address) { client in
                let typeField = type.map { "Content-Type: \($0)\r\n" } ?? ""
                let head =
                    "POST \(path) HTTP/1.1\r\nHost: sluice\r\n\(typeField)Content-Length: \(body.count)\r\n\(fields)\r\n"
                try await client.send(bytes: Array(head.utf8) + body)
                return try await client.response()
            }
            await server.pipeline.flush()
            let lines = server.delivered.lines.map {
                $0.replacing(#""receivedAt":"2020-09-13T12:26:40.000000Z","#, with: "")
            }
            return DialectExchange(response: response, lines: lines, quarantined: try await server.quarantined())
        }
    }

    /// Sends a text as `application/json`.
    package static func send(_ body: some StringProtocol, to path: String, _ plan: TrackingPlan) async throws
        -> DialectExchange
    {
        try await send(Array(body.utf8), to: path, plan)
    }
}
