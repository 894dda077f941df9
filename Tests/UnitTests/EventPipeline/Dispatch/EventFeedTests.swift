import EventModel
import EventPipeline
import EventSchema
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestCases
import Testing

@Suite("Watching a pipeline", .timeLimit(.minutes(2)))
struct EventFeedTests {
    private static func names(_ watch: Pipeline.Watch, _ count: Int) async -> [String] {
        var names: [String] = []
        while let item = await watch.next() {
            switch item {
            case .missed(let count): names.append("\(count) missed")
            case .event(let line):
                let text = String(decoding: line, as: UTF8.self)
                let verdict = text.hasPrefix(#"{"verdict":"accepted""#) ? "accepted" : "rejected"
                let name = text.split(separator: #""name":""#).last?.prefix { $0 != "\"" } ?? ""
                names.append("\(verdict) \(name)")
            }
            if names.count == count { break }
        }
        return names
    }

    @Test("shows accepted and rejected events, each as the filter says")
    func filters() async throws {
        let harness = try PipelineHarness([])
        let all = try #require(harness.pipeline.watch())
        let some = try #require(harness.pipeline.watch(.init(event: "B")))
        let beta = try #require(harness.pipeline.watch(.init(tracker: "BETA")))
        let rejected = try #require(harness.pipeline.watch(.init(verdict: .rejected)))
        let accepted = try #require(harness.pipeline.watch(.init(verdict: .accepted)))
        harness.pipeline.accept("A", 0..<1)
        let checked = try EventValidator(catalog: PipelineHarness.catalog).check(#"[{"name":"B","payload":1}]"#)
        harness.pipeline.quarantine(checked.rejections, source: "a file")
        harness.pipeline.accept("B", 1..<2)
        #expect(await Self.names(all, 3) == ["accepted A", "rejected B", "accepted B"])
        #expect(await Self.names(some, 2) == ["rejected B", "accepted B"])
        #expect(await Self.names(beta, 1) == ["accepted B"])
        #expect(await Self.names(rejected, 1) == ["rejected B"])
        #expect(await Self.names(accepted, 2) == ["accepted A", "accepted B"])
    }

    @Test("shows 200 events a second, and says how many it skipped")
    func limit() async throws {
        let harness = try PipelineHarness([])
        let watch = try #require(harness.pipeline.watch())
        harness.pipeline.accept("A", 0..<250)
        harness.clock.advance(by: .seconds(1))
        harness.pipeline.accept("B", 250..<251)
        let names = await Self.names(watch, 202)
        #expect(names.count { $0 == "accepted A" } == 200)
        #expect(names.first == "50 missed")
        #expect(names.last == "accepted B")
    }

    @Test("a user is found in the envelope, and not in the payload")
    func user() async throws {
        let lines = [
            #"{"name":"A","userId":"ada \"b\"","payload":{}}"#, #"{"name":"A","payload":{"userId":"ada \"b\""}}"#,
            #"{"name":"A","userId":"ada","payload":{}}"#,
            #"{"name":"A","context":{"userId":"ada \"b\""},"payload":{}}"#,
        ]
        let validator = EventValidator(catalog: PipelineHarness.catalog)
        let checked = try validator.check("[" + lines.joined(separator: ",") + "]")
        #expect(checked.rejections.isEmpty, "\(checked.verdicts)")
        let harness = try PipelineHarness([])
        let watch = try #require(harness.pipeline.watch(.init(user: #"ada "b""#)))
        _ = harness.pipeline.submit(try #require(checked.batch)) { _ in }
        harness.pipeline.accept("A", 1..<2)
        #expect(await Self.names(watch, 1) == ["accepted A"])
        watch.wake()
        #expect(await Self.names(watch, 1) == ["0 missed"])
    }

    @Test("ends with its watcher, and has room for another then")
    func watchers() async throws {
        let harness = try PipelineHarness([])
        var watches = (0..<16).compactMap { _ in harness.pipeline.watch() }
        #expect(watches.count == 16)
        #expect(harness.pipeline.watch() == nil)
        let last = watches.removeLast()
        harness.pipeline.accept("A", 0..<1)
        #expect(await Self.names(last, 1) == ["accepted A"])
        // Released without having been asked.
        watches = []
        #expect(harness.pipeline.watch() != nil)
        let task = Task { await last.next() }
        task.cancel()
        #expect(await task.value == nil)
        last.end()
        #expect(await last.next() == nil)
        #expect((0..<16).compactMap { _ in harness.pipeline.watch() }.count == 16)
    }

    @Test("a watcher that does not fetch costs at most 1 MiB, and learns how many events it missed")
    func bounded() async throws {
        let harness = try PipelineHarness([])
        let watch = try #require(harness.pipeline.watch())
        let validator = EventValidator(catalog: PipelineHarness.catalog)
        func send(bytes: Int) throws {
            let event = #"{"name":"A","payload":{"x":"\#(String(repeating: "y", count: bytes))"}}"#
            _ = harness.pipeline.submit(try #require(try validator.check(event, as: .lines).batch)) { _ in }
        }
        try send(bytes: 70_000)
        for _ in 0..<30 { try send(bytes: 60_000) }
        watch.wake()
        #expect(await Self.names(watch, 1) == ["14 missed"])
        #expect(await Self.names(watch, 17) == Array(repeating: "accepted A", count: 17))
        watch.wake()
        #expect(await Self.names(watch, 1) == ["0 missed"])
    }

    @Test("counts events by name, and rejections by event, code and sender with a sample")
    func activity() throws {
        let harness = try PipelineHarness([])
        harness.pipeline.accept("A", 0..<3)
        harness.pipeline.accept("B", 3..<4)
        let validator = EventValidator(catalog: PipelineHarness.catalog)
        let checked = try validator.check(#"[{"name":"B","payload":1},{"name":"B","payload":2},{"name":"made up"}]"#)
        let tally = checked.rejected
        let pipeline = harness.pipeline
        pipeline.quarantine([], of: tally, explained: checked.rejections, source: "http", sender: "web")
        pipeline.quarantine(checked.rejections, source: "a file")
        let events = Dictionary(uniqueKeysWithValues: pipeline.eventStatistics.map { ($0.name, $0) })
        #expect(events["A"]?.accepted == 3)
        #expect(events["A"]?.lastAccepted != nil)
        #expect(events["B"]?.accepted == 1)
        #expect(events["B"]?.rejected == 4)
        #expect(events["AB"]?.lastAccepted == nil)
        let kinds = pipeline.rejectionStatistics.map { kind in
            "\(kind.kind.event ?? "?") \(kind.kind.code) \(kind.kind.sender) \(kind.count)"
        }
        #expect(
            kinds.sorted() == [
                "? unknown-event a file 1", "? unknown-event web 1", "B wrong-type a file 2", "B wrong-type web 2",
            ]
        )
        let sample = pipeline.rejectionStatistics.first { $0.kind.code == .wrongType }?.sample
        #expect(sample?.map(\.path) == ["$.payload"])
        #expect(pipeline.rejectedEvents == 6)
    }

    @Test("counts every rejected event, although there are more kinds than it tells apart")
    func manyKinds() throws {
        let names = (0..<2_500).map { "E\($0)" }
        let events = names.map { name in
            EventDefinition(key: name, trackers: ["alpha"], location: PlanLocation(file: "a.plist", line: 1, column: 1))
        }
        let catalog = EventCatalog(plan: TrackingPlan(events: events))
        let pipeline = try PipelineHarness([], catalog: catalog).pipeline
        let validator = EventValidator(catalog: catalog)
        for name in names {
            let checked = try validator.check(#"[{"name":"\#(name)","payload":1}]"#)
            pipeline.quarantine(checked.rejections, source: "a file")
        }
        #expect(pipeline.rejectedEvents == names.count)
    }
}
