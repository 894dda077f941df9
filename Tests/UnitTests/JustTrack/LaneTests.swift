import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Synchronization
import Testing

@Suite("JustTrack: concurrent trackers", .timeLimit(.minutes(5))) struct LaneTests {
    private let sample = TrackingSample()

    @Test("a tracker that hangs does not delay other trackers")
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

    @Test("the events of a tracker that hangs take a limited amount of disk; the oldest are dropped, with an error")
    func limit() async {
        let gate = Watched(false)
        let hanging = NotingTracker("a") { _ in gate.hold() }
        let tracking = sample.tracking(trackers: hanging)
        let text = String(repeating: "x", count: 500_000)
        func track(_ number: Int) -> Bool {
            tracking.trackEvent(SampleEvent("\(number)", payload: ["text": text], trackers: "a"))
        }
        // 65 MB, of which the first 32 MiB fit at once; each further event waits until there is room again.
        var refused = 0
        for number in 0..<130 {
            while !track(number) { refused += 1 }
        }
        gate.update { $0 = true }
        await tracking.flush()
        let names = hanging.names.value.compactMap { Int($0) }
        #expect(names == names.sorted() && names.last == 129)
        #expect((20..<110).contains(names.count))
        // On a slow machine, room may become available in time for every event.
        #expect(sample.errors.contains { $0.contains("could not be stored") } == (refused > 0))
        #expect(sample.errors.contains { $0.contains("removes events that the tracker has not received") })
    }

    @Test("a tracker is called for one event at a time, in order, whichever threads track the events")
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
        // No call returned false, so no two calls overlapped.
        tracking.enable()
        #expect(!sample.log.contains { $0.contains("restored") })
    }

    @Test("a tracker that is loaded in several instances is still called for one event at a time")
    func severalPlaces() async {
        let calls = Mutex((now: 0, most: 0))
        let tracker = NotingTracker("a") { _ in
            let before = calls.withLock { calls in
                calls.now += 1
                calls.most = max(calls.most, calls.now)
                return calls.now
            }
            // Long enough for a thread of the other instance to enter, if it could.
            for _ in 0..<200 where calls.withLock({ $0.now }) == before { sched_yield() }
            calls.withLock { $0.now -= 1 }
            return true
        }
        // Neither instance delivers anything before both have all their events.
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

    @Test("a tracker that is unloaded and loaded again is still called for one event at a time")
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

    @Test("while all threads of the cooperative pool are busy, events are accepted, and they are delivered afterwards")
    func noThreads() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(trackers: tracker)
        let (gate, held) = (Watched(false), Watched(0))
        // This test occupies one of the threads.
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

    @Test("a tracker may track events and replace itself while it is called")
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

    @Test("loading a tracker replaces a loaded tracker of the same name")
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

    @Test("an event that names a tracker twice is delivered to it twice")
    func twice() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(trackers: tracker)
        tracking.trackEvent(SampleEvent("1", trackers: "a", "A"))
        await tracking.flush()
        #expect(tracker.names.value == ["1", "1"])
    }

    @Test("an event is delivered although one of its trackers is not loaded, which is reported")
    func missingTracker() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(trackers: tracker)
        #expect(tracking.trackEvent(SampleEvent("1", trackers: "a", "b")))
        await tracking.flush()
        #expect(tracker.names.value == ["1"])
        #expect(sample.errors == ["error: The event '1' names the tracker 'b', which is not loaded."])
    }

    @Test("completeAllOperations delivers the events that wait for the end of the interval")
    func completing() async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(.batch(dispatchInterval: 3600), trackers: tracker)
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        tracking.trackEvent(SampleEvent("2", trackers: "a"))
        #expect(tracker.names.value == [])
        tracking.completeAllOperations()
        await tracker.waits(for: ["1", "2"])
    }

    @Test("a batch's interval may be any number", arguments: [0, -1, .nan, .infinity, -.infinity, 1e300])
    func intervals(interval: TimeInterval) async {
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(.batch(dispatchInterval: interval), trackers: tracker)
        tracking.trackEvent(SampleEvent("1", trackers: "a"))
        await tracking.flush()
        #expect(tracker.names.value == ["1"])
    }

    @Test("waiting events are delivered when the EventTracking is deinitialised")
    func lettingGo() async {
        let tracker = NotingTracker("a")
        sample.tracking(.batch(dispatchInterval: 3600), trackers: tracker).trackEvent(SampleEvent("1", trackers: "a"))
        await tracker.waits(for: ["1"])
    }

    @Test("the name of a tracker may be any text", arguments: ["", "..", "a/b", "Größe 1", "🙂", "a\0b"])
    func names(name: String) async {
        let tracker = NotingTracker(name)
        let tracking = sample.tracking(trackers: tracker)
        #expect(tracking.trackEvent(SampleEvent("1", trackers: name)))
        await tracking.flush()
        #expect(tracker.names.value == ["1"])
        #expect(sample.errors == [])
    }

    @Test("if the folder cannot be created, events are delivered from memory, and the error is logged")
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

    @Test("logClosure is called only on threads that call EventTracking")
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

    @Test("the default folder is the app's own, in the state folder of the environment")
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

/// A tracker that replaces itself and tracks another event while it is called.
// Safe to share: `tracking` is set before the first event, and removed after the last.
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
