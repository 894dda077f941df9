import Sluice

/// What sends an event to the service of an app's tracker.
struct AnalyticsClient {
    func send(_ json: String, named name: String, id: String) async throws {}
}

let client = AnalyticsClient()

struct AnalyticsTracker: SingleEventTracker {
    let name = "Analytics"

    func track(_ event: TrackedEvent) async throws {
        try await client.send(event.json, named: event.name, id: "\(event.id)")
    }
}
