import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Synchronization
import Testing

@Suite("JustTrack: trackers beside each other", .timeLimit(.minutes(5))) struct LaneTests {
    private let sample = TrackingSample()

    @Test("a tracker that hangs holds up no other")
    func hanging() async {
        let gate = Watched(false)
        let hanging = NotingTracker("hanging") { _ in gate.hold() }
        let other = NotingTracker("other")
        let tracking = sample.tracking(trackers: hanging, other)
        let names = (0..<50).map { "\($0)" }
        for name in names { #expect(tracking.trackEvent(SampleEvent(name, trackers: "hanging", "other"))) }
        await other.waits(for: names)
        #expect(hanging.names.value.count <= 1)
        gate.update { $0 = true }
        await tracking.flush()
        #expect(hanging.names.value == names)
    }

    @Test("a tracker that hangs takes no more of the disk than it may; it loses the oldest, which is said")
    func limit() async {
        let gate = Watched(false)
        let hanging = NotingTracker("a") { _ in gate.hold() }
        let tracking = sample.tracking(trackers: hanging)
        let text = String(repeating: "x", count: 500_000)
        func track(_ number: Int) -> Bool {
            tracking.trackEvent(SampleEvent("\(number)", payload: ["text": text], trackers: "a"))
        }
        // 65 MB, of which 32 MiB find room at once; then each waits until there is room again.
        var refused = 0
        for number in 0..<130 {
            while !track(number) { refused += 1 }
        }
        gate.update { $0 = true }
        await tracking.flush()
        let names = hanging.names.value.compactMap { Int($0) }
        #expect(names == names.sorted() && names.last == 129)
        #expect((20..<110).contains(names.count))
        // A slow machine may make room in time for each.
        #expect(sample.errors.contains { $0.contains("could not be stored") } == (refused > 0))
        #expect(sample.errors.contains { $0.contains("Events that the tracker had not got are removed") })
    }

    @Test("a tracker is called for one event at a time, in their order, whoever tracks them")
    func order() async {
        let calls = Mutex(0)
        let tracker = NotingTracker("a") { _ in
            let isAlone = calls.withLock { calls in
                calls += 1
                return calls == 1
            }
            defer { calls.withLock { $0 -= 1 } }
            return isAlone
        }
        // Safe: it may be called from any thread once its log is set.
        nonisolated(unsafe) let tracking = sample.tracking(trackers: tracker)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<50 { tracking.trackEvent(SampleEvent("\(thread) \(number)", trackers: "a")) }
        }
        await tracking.flush()
        let names = tracker.names.value
        #expect(names.count == 400)
        for thread in 0..<8 {
            #expect(names.filter { $0.hasPrefix("\(thread) ") } == (0..<50).map { "\(thread) \($0)" })
        }
        // None was answered with false, so no call ever met another.
        tracking.enable()
        #expect(!sample.log.contains { $0.contains("restored") })
    }

    @Test("one tracker in several places is called for one event at a time, too")
    func severalPlaces() async {
        let calls = Mutex((now: 0, most: 0))
        let tracker = NotingTracker("a") { _ in
            let before = calls.withLock { calls in
                calls.now += 1
                calls.most = max(calls.most, calls.now)
                return calls.now
            }
            // Long enough for the other place's thread to come in, if it could.
            for _ in 0..<200 where calls.withLock({ $0.now }) == before { sched_yield() }
            calls.withLock { $0.now -= 1 }
            return true
        }
        // Neither passes anything on before both have all their events.
        let one = sample.tracking(.batch(dispatchInterval: 3600), trackers: tracker)
        let other = sample.tracking(.batch(dispatchInterval: 3600), trackers: tracker)
        for number in 0..<100 {
            one.trackEvent(SampleEvent("one \(number)", trackers: "a"))
            other.trackEvent(SampleEvent("other \(number)", trackers: "a"))
        }
        #expect(tracker.names.value == [])
        one.completeAllOperations()
        other.completeAllOperations()
        await tracker.names.wait { $0.count == 200 }
        await one.flush()
        await other.flush()
        #expect(calls.withLock { $0.most } == 1)
    }

    @Test("a tracker that is loaded anew is still called for one event at a time")
    func loadedAnew() async {
        let calls = Mutex((now: 0, most: 0))
        let tracker = NotingTracker("a") { _ in
            calls.withLock { calls in
                calls.now += 1
                calls.most = max(calls.most, calls.now)
            }
            sched_yield()
            calls.withLock { $0.now -= 1 }
            return true
        }
        let tracking = sample.tracking(trackers: tracker)
        for round in 0..<5 {
            for number in 0..<100 { tracking.trackEvent(SampleEvent("\(round) \(number)", trackers: "a")) }
            tracking.unloadTrackers()
            tracking.loadCustomTracker(tracker)
        }
        await tracking.flush()
        await tracker.names.wait { $0.count == 500 }
        #expect(calls.withLock { $0.most } == 1)
    }

    @Test("while all threads of the system's pool are taken, events are taken, too, and passed on when there is one")
    func noThreads() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(trackers: tracker)
        let (gate, held) = (Watched(false), Watched(0))
        // This test has one of the threads itself.
        let others = ProcessInfo.processInfo.activeProcessorCount - 1
        await withDiscardingTaskGroup { group in
            for _ in 0..<others {
                group.addTask {
                    held.update { $0 += 1 }
                    _ = gate.hold()
                }
            }
            await held.wait { $0 == others }
            for number in 0..<100 { #expect(tracking.trackEvent(SampleEvent("\(number)", trackers: "a"))) }
            #expect(sample.errors.first == "error: The event '0' is not written yet.")
            gate.update { $0 = true }
            await tracking.flush()
            #expect(tracker.names.value == (0..<100).map { "\($0)" })
        }
    }

    @Test("a tracker may track events itself, and load another in its place")
    func fromWithin() async {
        let sample = sample
        let replacement = NotingTracker("a")
        let tracker = ReplacingTracker(replacement)
        let tracking = sample.tracking(trackers: tracker)
        tracker.tracking = tracking
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        await replacement.waits(for: ["from 1"])
        tracker.tracking = nil
    }

    @Test("a tracker that is loaded under the same name takes the place of the other")
    func replacing() async {
        let (first, second) = (NotingTracker("a"), NotingTracker("A"))
        let tracking = sample.tracking(trackers: first)
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        await tracking.flush()
        tracking.loadCustomTracker(second)
        tracking.trackEvent(SampleEvent("2", trackers: "a"))
        await tracking.flush()
        #expect(first.names.value == ["1"])
        #expect(second.names.value == ["2"])
    }

    @Test("an event that names a tracker twice comes twice")
    func twice() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(trackers: tracker)
        tracking.trackEvent(SampleEvent("1", trackers: "a", "A"))
        await tracking.flush()
        #expect(tracker.names.value == ["1", "1"])
    }

    @Test("an event is taken though one of its trackers is not loaded, and that is said")
    func missingTracker() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(trackers: tracker)
        #expect(tracking.trackEvent(SampleEvent("1", trackers: "a", "b")))
        await tracking.flush()
        #expect(tracker.names.value == ["1"])
        #expect(sample.errors == ["error: The event '1' names the tracker 'b', which is not loaded."])
    }

    @Test("completeAllOperations passes on at once what waits for the end of the interval")
    func completing() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(.batch(dispatchInterval: 3600), trackers: tracker)
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        tracking.trackEvent(SampleEvent("2", trackers: "a"))
        #expect(tracker.names.value == [])
        tracking.completeAllOperations()
        await tracker.waits(for: ["1", "2"])
    }

    @Test("an interval of any size is taken", arguments: [0, -1, .nan, .infinity, -.infinity, 1e300])
    func intervals(interval: TimeInterval) async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(.batch(dispatchInterval: interval), trackers: tracker)
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        await tracking.flush()
        #expect(tracker.names.value == ["1"])
    }

    @Test("what waits is passed on when the tracking is let go")
    func lettingGo() async {
        let tracker = NotingTracker("a")
        sample.tracking(.batch(dispatchInterval: 3600), trackers: tracker).trackEvent(SampleEvent("1", trackers: "a"))
        await tracker.waits(for: ["1"])
    }

    @Test("names of trackers may be of any kind", arguments: ["", "..", "a/b", "Größe 1", "🙂", "a\0b"])
    func names(name: String) async {
        let tracker = NotingTracker(name)
        let tracking = sample.tracking(trackers: tracker)
        #expect(tracking.trackEvent(SampleEvent("1", trackers: name)))
        await tracking.flush()
        #expect(tracker.names.value == ["1"])
        #expect(sample.errors == [])
    }

    @Test("where there is no folder to be had, events are passed on from memory, and that is said")
    func noFolder() async throws {
        try Data("a file".utf8).write(to: URL(fileURLWithPath: sample.folder.path))
        let tracker = NotingTracker("a") { $0 != "2" }
        let tracking = sample.tracking(trackers: tracker)
        for number in 1...3 { #expect(tracking.trackEvent(SampleEvent("\(number)", trackers: "a"))) }
        await tracking.flush()
        #expect(tracker.names.value == ["1", "2", "3"])
        #expect(sample.errors.count == 2)
        #expect(sample.errors.first?.contains("kept in memory only") == true)
        #expect(sample.errors.last?.contains("is lost") == true)
    }

    @Test("the log is told on the threads that call, and on no other")
    func log() async throws {
        let threads = Mutex<Set<UInt>>([])
        let refusing = NotingTracker("a") { _ in false }
        // Safe: it may be called from any thread once its log is set.
        nonisolated(unsafe) let tracking = sample.tracking(trackers: refusing)
        try Data().write(to: URL(fileURLWithPath: sample.folder.path))
        tracking.logClosure = { _, _ in threads.withLock { _ = $0.insert(UInt(pthread_self())) } }
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        await refusing.waits(for: ["1"])
        let known = Mutex(threads.withLock { $0 })
        let thread = Thread {
            known.withLock { _ = $0.insert(UInt(pthread_self())) }
            tracking.trackEvent(SampleEvent("2", trackers: "a"))
        }
        thread.start()
        await refusing.waits(for: ["1", "2"])
        #expect(threads.withLock { $0 }.isSubset(of: known.withLock { $0 }))
    }

    @Test("the folder is the app's own unless told, and within the state folder that the environment states")
    func folder() {
        let stated = EventStorage.standard(environment: ["XDG_STATE_HOME": "/state"]).folder
        let program = ProcessInfo.processInfo.processName
        #if canImport(Darwin)
        #expect(stated.hasSuffix("/JustTrack"))
        #else
        #expect(stated == "/state/\(program)/JustTrack")
        let home = EventStorage.standard(environment: ["XDG_STATE_HOME": "relative"]).folder
        #expect(home == NSHomeDirectory() + "/.local/state/\(program)/JustTrack")
        #endif
    }
}

/// A tracker that loads another in its own place, and tracks an event for it.
// Safe to share: `tracking` is set before the first event, and taken back after the last.
private final class ReplacingTracker: EventTracker, @unchecked Sendable {
    let name = "a"
    var tracking: EventTracking?
    private let replacement: NotingTracker

    init(_ replacement: NotingTracker) {
        self.replacement = replacement
    }

    func trackEvent(_ name: String, payload: Payload) -> Bool {
        tracking?.loadCustomTracker(replacement)
        return tracking?.trackEvent(SampleEvent("from \(name)", trackers: "a")) ?? false
    }
}
