import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import GoldenShapes
import Logging
import PipelineTestSupport
import SluiceTesting
import Synchronization
import TestPromises
import Testing
import TrackerKit

@Suite("Tracking typed events", .timeLimit(.minutes(5)))
struct TrackTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let clock = ManualClock()
    private let now: @Sendable () -> Timestamp = { Timestamp(microseconds: 1_700_000_000_123_456) }

    private func pipeline(
        _ trackers: [any Tracker],
        capacityInEvents: Int = 100_000,
        catalog: EventCatalog = ShapesEvents.catalog,
        eventTimes: TimeWindow = TimeWindow(past: .seconds(36_500 * 86_400), ahead: .zero)
    ) throws -> Pipeline {
        var configuration = Pipeline.Configuration(
            queue: .init(capacityInEvents: capacityInEvents),
            delivery: .init(linger: .zero)
        )
        configuration.eventTimes = eventTimes
        return try Pipeline(
            catalog: catalog,
            trackers: trackers,
            configuration: configuration,
            quarantine: .discarding(logger: logger),
            logger: logger,
            clock: clock,
            now: now
        )
    }

    private func run(_ pipeline: Pipeline, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await pipeline.run() }
            try await body()
            pipeline.shutdown()
            try await group.waitForAll()
        }
    }

    @Test("an event reaches its trackers with the values from the call and the context")
    func delivered() async throws {
        let tracker = RecordingTracker(name: "console")
        let pipeline = try pipeline([tracker])
        let id = EventID(high: 1, low: 2)
        try await run(pipeline) {
            try await EventContext.with(EventContext(userID: "outer", sessionID: "s", requestID: "r-1")) {
                try await EventContext.with(EventContext(anonymousID: "a", attributes: ["ip": "::1"])) {
                    try await pipeline.track(ShapesEvents.NothingSaid(), userID: "inner", id: id)
                }
                try await pipeline.track(
                    ShapesEvents.NothingSaid(),
                    id: id,
                    time: Timestamp(microseconds: 0, fractionDigits: 0)
                )
            }
            try await pipeline.track(ShapesEvents.NothingSaid(), id: id)
        }
        let head = #"{"id":"00000000-0000-0001-0000-000000000002","name":"Nothing Said","#
        let arrival = #""receivedAt":"2023-11-14T22:13:20.123456Z""#
        #expect(
            tracker.events.map(\.json) == [
                head + #""time":"2023-11-14T22:13:20.123456Z",\#(arrival),"userId":"inner","anonymousId":"a","#
                    + #""sessionId":"s","context":{"ip":"::1","requestId":"r-1"},"payload":{},"serverTime":true}"#,
                head + #""time":"1970-01-01T00:00:00Z",\#(arrival),"userId":"outer","sessionId":"s","#
                    + #""context":{"requestId":"r-1"},"payload":{}}"#,
                head + #""time":"2023-11-14T22:13:20.123456Z",\#(arrival),"payload":{},"serverTime":true}"#,
            ]
        )
    }

    @Test("an event that does not follow the plan throws an error, and is not accepted", .promise("invalid-event"))
    func invalid() async throws {
        let tracker = RecordingTracker(name: "console")
        let pipeline = try pipeline([tracker])
        let event = ShapesEvents.LimitsKept(code: "x", count: 0, share: 0, price: 0)
        try await run(pipeline) {
            await #expect(throws: TrackError.self) { try await pipeline.track(event) }
            let error = #expect(throws: TrackError.self) { try pipeline.tryTrack(event) }
            #expect(error?.code == .invalid)
            #expect(error?.violations.isEmpty == false)
        }
        #expect(tracker.events.isEmpty)
        #expect(pipeline.statistics.accepted == 0)
    }

    @Test(
        "an event is accepted up to both limits on its time, and rejected a microsecond beyond them",
        .promise("client-times")
    )
    func times() async throws {
        let tracker = RecordingTracker(name: "console")
        let window = TimeWindow(past: .seconds(60), ahead: .seconds(2))
        let pipeline = try pipeline([tracker], eventTimes: window)
        let arrival = now().microseconds
        func time(_ offset: Int64) -> Timestamp { Timestamp(microseconds: arrival + offset) }
        try await run(pipeline) {
            for offset in [-60_000_001, 2_000_001] as [Int64] {
                let error = await #expect(throws: TrackError.self) {
                    try await pipeline.track(ShapesEvents.NothingSaid(), time: time(offset))
                }
                #expect(error?.violations.map(\.code) == [.timeOutOfRange])
                #expect(error?.violations.first?.path == "$.time")
            }
            for offset in [-60_000_000, 2_000_000] as [Int64] {
                try await pipeline.track(ShapesEvents.NothingSaid(), time: time(offset))
            }
        }
        #expect(tracker.events.map(\.time.microseconds) == [arrival - 60_000_000, arrival + 2_000_000])
    }

    @Test("track waits for room; tryTrack throws full, and accepts nothing", .promise("no-room"))
    func full() async throws {
        let tracker = ScriptedTracker(name: "console", [.stall])
        let pipeline = try pipeline([tracker], capacityInEvents: 1)
        try await run(pipeline) {
            try pipeline.tryTrack(ShapesEvents.NothingSaid())
            #expect(throws: TrackError.full) { try pipeline.tryTrack(ShapesEvents.NothingSaid()) }
            #expect(pipeline.statistics.waitingBatches == 0)
            let waiting = Task { try await pipeline.track(ShapesEvents.NothingSaid()) }
            while pipeline.statistics.waitingBatches == 0 { await Task.yield() }
            tracker.release()
            try await waiting.value
        }
        #expect(throws: TrackError.closed) { try pipeline.tryTrack(ShapesEvents.NothingSaid()) }
        await #expect(throws: TrackError.closed) { try await pipeline.track(ShapesEvents.NothingSaid()) }
        #expect(tracker.delivered.count == 2)
    }

    @Test("a track that is cancelled while it waits is withdrawn, and its event is not accepted", .promise("no-room"))
    func cancelled() async throws {
        let tracker = ScriptedTracker(name: "console", [.stall])
        let pipeline = try pipeline([tracker], capacityInEvents: 1)
        try await run(pipeline) {
            try pipeline.tryTrack(ShapesEvents.NothingSaid())
            let waiting = Task { try await pipeline.track(ShapesEvents.NothingSaid()) }
            while pipeline.statistics.waitingBatches == 0 { await Task.yield() }
            waiting.cancel()
            await #expect(throws: TrackError.cancelled) { try await waiting.value }
            tracker.release()
        }
        #expect(tracker.delivered.count == 1)
    }

    @Test("tryTrack reports exactly the accepted events as accepted, also while the pipeline shuts down")
    func truthful() async throws {
        for _ in 0..<500 {
            let pipeline = try pipeline([ScriptedTracker(name: "console", [.stall])], capacityInEvents: 1)
            let taken = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        var taken = 0
                        while true {
                            do throws(TrackError) {
                                try pipeline.tryTrack(ShapesEvents.NothingSaid())
                                taken += 1
                            } catch {
                                if error.code == .closed { break }
                            }
                            await Task.yield()
                        }
                        return taken
                    }
                }
                group.addTask {
                    pipeline.shutdown()
                    return 0
                }
                return await group.reduce(0, +)
            }
            #expect(taken == pipeline.statistics.accepted)
        }
    }

    @Test("an event whose encoding tracks another event does not deadlock")
    func reentrant() throws {
        let pipeline = try pipeline([RecordingTracker(name: "console")])
        let event = Reentrant {
            #expect(throws: Never.self) { try pipeline.tryTrack(ShapesEvents.NothingSaid()) }
        }
        try pipeline.tryTrack(event)
        #expect(pipeline.statistics.accepted == 2)
    }

    @Test("many events are accepted together, in their order, and flush waits for them")
    func many() async throws {
        let tracker = RecordingTracker(name: "kafka")
        let pipeline = try pipeline([tracker])
        let events = (0..<2500).map { number in
            ShapesEvents.OrderShipped(address: .init(street: "\(number)", zip: "12345"), items: [])
        }
        try await run(pipeline) {
            let taken = try await pipeline.track(contentsOf: events)
            #expect(taken == 2500)
            await pipeline.flush()
            #expect(tracker.events.count == 2500)
        }
        let streets = tracker.events.compactMap { event in
            event.json.firstMatch(of: /"street":"(\d+)"/).flatMap { Int($0.1) }
        }
        #expect(streets == Array(0..<2500))
    }

    @Test("events of several types are accepted together")
    func mixed() async throws {
        let tracker = RecordingTracker(name: "console")
        let pipeline = try pipeline([tracker])
        try await run(pipeline) {
            let events: [any AnalyticsEvent] = [ShapesEvents.NothingSaid(), ShapesEvents.AnythingGoes(known: "x")]
            let taken = try await pipeline.track(contentsOf: events, context: EventContext(userID: "u"))
            #expect(taken == 2)
        }
        #expect(tracker.events.map(\.json).allSatisfy { $0.contains(#""userId":"u""#) })
        #expect(tracker.events.count == 2)
    }

    @Test("the error of an invalid event among many says how many events before it were accepted")
    func interrupted() async throws {
        let tracker = RecordingTracker(name: "console")
        let pipeline = try pipeline([tracker])
        let codes = (0..<1500).map { $0 == 1200 ? "wrong" : "AB" }
        try await run(pipeline) {
            do throws(TrackInterruption) {
                try await pipeline.track(
                    contentsOf: codes.map { ShapesEvents.LimitsKept(code: $0, count: 1, share: 0, price: 0) }
                )
                Issue.record("the invalid event was taken")
            } catch {
                #expect(error.acceptedCount == 1200)
                #expect(error.reason.code == .invalid)
            }
            await pipeline.flush()
        }
        #expect(tracker.events.count == 1200)
    }

    private func pipeline(
        _ tracker: any Tracker,
        journal files: SimulatedFileSystem,
        configuration: JournalConfiguration = .small()
    ) throws -> Pipeline {
        try Pipeline(
            catalog: ShapesEvents.catalog,
            trackers: [tracker],
            journal: Journal(files, configuration: configuration, now: 0),
            configuration: .init(queue: .init(fullPolicy: .spill), delivery: .init(linger: .zero)),
            quarantine: .discarding(logger: logger),
            logger: logger,
            clock: clock,
            now: now
        )
    }

    @Test(
        "with a journal, events are accepted before the pipeline runs, and delivered once it runs",
        .promise("track-before-run")
    )
    func beforeRun() async throws {
        let tracker = RecordingTracker(name: "console")
        let pipeline = try pipeline(tracker, journal: SimulatedFileSystem(seed: 2))
        try await pipeline.track(ShapesEvents.NothingSaid(), userID: "early")
        #expect(pipeline.statistics.accepted == 1)
        #expect(tracker.events.isEmpty)
        try await run(pipeline) { await pipeline.flush() }
        #expect(tracker.events.count == 1)
    }

    @Test(
        "a pipeline that accepted events but never runs is released with its last reference, and its events stay in the journal",
        .promise("track-before-run")
    )
    func neverRun() async throws {
        let files = SimulatedFileSystem(seed: 3)
        weak var kept: Pipeline?
        do {
            let pipeline = try pipeline(RecordingTracker(name: "console"), journal: files)
            kept = pipeline
            try await pipeline.track(ShapesEvents.NothingSaid())
        }
        while kept != nil { await Task.yield() }
        let tracker = RecordingTracker(name: "console")
        let next = try pipeline(tracker, journal: files.crashedCopy())
        try await run(next) { await next.flush() }
        #expect(tracker.events.count == 1)
    }

    @Test("the task context of the first caller is not used for the answers to later callers")
    func contextOfCommits() async throws {
        let pipeline = try pipeline(RecordingTracker(name: "console"), journal: SimulatedFileSystem(seed: 4))
        try await EventContext.with(EventContext(userID: "first")) {
            try await pipeline.track(ShapesEvents.NothingSaid())
        }
        var builder = EventBatchBuilder(catalog: ShapesEvents.catalog, now: now)
        try builder.append(ShapesEvents.NothingSaid())
        let finished = builder.finish()
        let batch = try #require(finished)
        let userID = await withCheckedContinuation { continuation in
            _ = pipeline.submit(batch) { _ in continuation.resume(returning: EventContext.current.userID) }
        }
        #expect(userID == nil)
    }

    @Test("flush waits for events that tryTrack accepted and that are not in the journal yet", .promise("flush"))
    func flushAfterTryTrack() async throws {
        for seed in 0..<20 {
            let tracker = RecordingTracker(name: "console")
            let pipeline = try pipeline(tracker, journal: SimulatedFileSystem(seed: UInt64(seed)))
            try await run(pipeline) {
                for _ in 0..<100 {
                    try pipeline.tryTrack(ShapesEvents.NothingSaid())
                }
                await pipeline.flush()
                #expect(tracker.events.count == 100)
            }
        }
    }

    @Test(
        "the library's initializer throws for two trackers with one name, and for more than 64 trackers",
        .promise("invalid-settings")
    )
    func impossibleTrackers() throws {
        let duplicate = #expect(throws: PipelineError.self) {
            try Pipeline(
                catalog: ShapesEvents.catalog,
                trackers: [RecordingTracker(name: "console"), RecordingTracker(name: "Console")]
            )
        }
        #expect(duplicate?.code == .duplicateTracker)
        #expect(duplicate?.tracker == "Console")
        let many = #expect(throws: PipelineError.self) {
            try Pipeline(
                catalog: ShapesEvents.catalog,
                trackers: (0...64).map { RecordingTracker(name: "tracker \($0)") }
            )
        }
        #expect(many?.code == .tooManyTrackers)
    }

    @Test("with a journal, track returns once the event is in it; if it cannot be written, track and tryTrack throw")
    func journal() async throws {
        let tracker = RecordingTracker(name: "console")
        let files = SimulatedFileSystem(seed: 1)
        let pipeline = try pipeline(tracker, journal: files)
        try await run(pipeline) {
            try await pipeline.track(ShapesEvents.NothingSaid(), userID: "kept")
            try pipeline.tryTrack(ShapesEvents.NothingSaid())
            await pipeline.flush()
            files.setFailures(1000)
            let error = await #expect(throws: TrackError.self) { try await pipeline.track(ShapesEvents.NothingSaid()) }
            #expect(error?.isRetryable == true)
            let refusal = #expect(throws: TrackError.self) { try pipeline.tryTrack(ShapesEvents.NothingSaid()) }
            #expect(refusal?.journalError?.code == .unwritable)
            files.setFailures(0)
        }
        #expect(tracker.events.count == 2)
    }

    @Test("tryTrack throws while the journal is full, and accepts events again when it has room")
    func fullJournal() async throws {
        var configuration = JournalConfiguration.small()
        configuration.maximumBytes = 10_000
        let tracker = ScriptedTracker(name: "console", [.stall])
        let pipeline = try pipeline(tracker, journal: SimulatedFileSystem(seed: 5), configuration: configuration)
        try await run(pipeline) {
            try await pipeline.track(ShapesEvents.NothingSaid())
            await tracker.waitForDeliveries(1)
            while (try? await pipeline.track(ShapesEvents.NothingSaid())) != nil {}
            let refusal = #expect(throws: TrackError.self) { try pipeline.tryTrack(ShapesEvents.NothingSaid()) }
            #expect(refusal?.journalError?.code == .full)
            tracker.release()
            await pipeline.flush()
            let accepted = pipeline.statistics.accepted
            #expect(accepted > 0)
            for _ in 0..<10_000 where pipeline.statistics.accepted == accepted {
                clock.advance(by: .seconds(1))
                try? pipeline.tryTrack(ShapesEvents.NothingSaid())
                await Task.yield()
            }
            #expect(pipeline.statistics.accepted > accepted)
        }
    }

    @Test("an event of another catalog is accepted if this catalog defines it in the same way, and rejected otherwise")
    func otherCatalog() async throws {
        let tracker = RecordingTracker(name: "console")
        var plan = ShapesEvents.catalog.plan
        plan.events.reverse()
        plan.events.removeAll { $0.name == "Anything Goes" }
        for index in plan.events.indices where plan.events[index].name == "Limits Kept" {
            plan.events[index].properties[0].maxLength = 100
        }
        for index in plan.events.indices {
            plan.events[index].description = "said otherwise"
            for property in plan.events[index].properties.indices {
                plan.events[index].properties[property].swiftName = "named\(property)"
            }
        }
        let pipeline = try pipeline([tracker], catalog: EventCatalog(plan: plan))
        try await run(pipeline) {
            try await pipeline.track(ShapesEvents.NothingSaid())
            await #expect(throws: TrackError.self) { try await pipeline.track(ShapesEvents.AnythingGoes()) }
            await #expect(throws: TrackError.self) {
                try await pipeline.track(ShapesEvents.LimitsKept(code: "AB", count: 1, share: 0, price: 0))
            }
        }
        #expect(tracker.events.count == 1)
    }
}

/// An event that does something while it is encoded.
private struct Reentrant: AnalyticsEvent {
    static var catalog: EventCatalog { ShapesEvents.catalog }
    static var definitionIndex: Int { ShapesEvents.NothingSaid.definitionIndex }
    let act: @Sendable () -> Void

    func encode(into payload: inout PayloadEncoder) { act() }
}
