import EventModel
import EventPipeline
import Events
import PipelineTestKit

func testWithScriptedTracker(event: some AnalyticsEvent) async throws {
    let tracker = ScriptedTracker(name: "console")
    let pipeline = try Pipeline(catalog: .events, trackers: [tracker])
    async let running: Void = pipeline.run()
    try await pipeline.track(event)
    await tracker.waitForDelivered(1)
    pipeline.shutdown()
    try await running
}

func advance(_ clock: ManualClock) async {
    await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(100))
}

/// A destination that a tracker is held against its promises with.
protocol Server: Sendable {
    var url: String { get }
    func storedIDs() async throws -> [EventID]
}

func holdToContract(server: some Server) async throws {
    try await TrackerContract(
        makeTracker: { MyTracker(url: server.url) },
        delivered: { try await server.storedIDs() }
    ).verify()
}
