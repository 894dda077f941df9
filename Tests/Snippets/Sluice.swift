import Events
import Foundation
import Logging
import ServiceLifecycle
import Sluice
import SluicePostgres

func runService(logger: Logger) async throws {
    let pipeline = try Pipeline(
        catalog: ShopEvents.catalog,
        trackers: [.console(), .postgres("postgres:///shop")],
        journal: "data/journal"
    )
    let services = ServiceGroup(services: [pipeline], gracefulShutdownSignals: [.sigterm], logger: logger)
    try await services.run()
}

struct StandardError: SingleEventTracker {
    let name = "stderr"

    func track(_ event: TrackedEvent) async throws {
        try FileHandle.standardError.write(contentsOf: Data("\(event.json)\n".utf8))
    }
}

func useOwnTracker() throws -> Pipeline {
    let pipeline = try Pipeline(
        catalog: ShopEvents.catalog,
        trackers: [.console(), .postgres("postgres:///shop"), MyTracker()],
        journal: "data/journal"
    )
    return pipeline
}

func stateContext(
    pipeline: Pipeline,
    user: (id: String, name: String),
    request: (id: String, path: String),
    event: some AnalyticsEvent
) async throws {
    try await EventContext.with(EventContext(userID: user.id, requestID: request.id)) {
        try await pipeline.track(event)
    }
}
