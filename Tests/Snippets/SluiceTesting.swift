import Events
import Sluice
import SluiceTesting
import Testing

func testWithScriptedTracker(event: some AnalyticsEvent) async throws {
    let tracker = ScriptedTracker(name: "console")
    let pipeline = try Pipeline(catalog: ShopEvents.catalog, trackers: [tracker])
    async let running: Void = pipeline.run()
    try await pipeline.track(event)
    await tracker.waitForDelivered(1)
    pipeline.shutdown()
    try await running
}

func testWithRecordingTracker(event: ShopEvents.ItemPurchased) async throws {
    let recorder = RecordingTracker(name: "console")
    try await Pipeline.run(catalog: ShopEvents.catalog, trackers: [recorder]) { pipeline in
        try await pipeline.track(event)
    }
    #expect(try recorder.events(ShopEvents.ItemPurchased.self) == [event])
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
