import ConsoleTracker
import EventPipeline
import Events
import Foundation
import Logging
import PostgresTracker
import ServiceLifecycle

func runService(logger: Logger) async throws {
    let pipeline = try Pipeline(
        catalog: .events,
        trackers: [.console(), .postgres("postgres://localhost/shop")],
        journal: .directory("data/journal")
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
        catalog: .events,
        trackers: [.console(), .postgres("postgres://localhost/shop"), MyTracker()],
        journal: .directory("data/journal")
    )
    return pipeline
}

func stateContext(
    pipeline: Pipeline,
    user: (id: String, name: String),
    request: (id: String, path: String),
    event: some AnalyticsEvent
) async throws {
    try await EventContext.with(EventContext(userId: user.id, requestId: request.id)) {
        try await pipeline.track(event)
    }
}

func inflate(
    _ body: UnsafeRawBufferPointer,
    into room: UnsafeMutableRawBufferPointer,
    consume: (Slice<UnsafeMutableRawBufferPointer>) -> Void
) throws {
    var input = body
    var inflater = try GzipInflater()
    while !input.isEmpty {
        let count = try inflater.inflate(&input, into: room)
        consume(room[..<count])
    }
    try inflater.finish()
}
