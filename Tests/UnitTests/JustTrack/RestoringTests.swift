import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Synchronization
import Testing

@Suite("JustTrack: undelivered events", .timeLimit(.minutes(5))) struct RestoringTests {
    private let sample = TrackingSample()

    @Test("what a tracker does not take holds up nothing behind it, and comes again after enable, not before")
    func sameProcess() async {
        let answers = Mutex([String: Bool]())
        let tracker = NotingTracker("a") { name in answers.withLock { $0[name] ?? true } }
        answers.withLock { $0 = ["2": false, "4": false] }
        let tracking = sample.tracking(trackers: tracker)
        for number in 1...5 { tracking.trackEvent(SampleEvent("\(number)", trackers: "a")) }
        await tracking.flush()
        #expect(tracker.names.value == ["1", "2", "3", "4", "5"])

        answers.withLock { $0 = ["4": false] }
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == ["1", "2", "3", "4", "5", "2", "4"])
        #expect(sample.log.contains("info: 2 events restored"))

        answers.withLock { $0 = [:] }
        tracking.enable()
        await tracking.flush()
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == ["1", "2", "3", "4", "5", "2", "4", "4"])
        #expect(sample.errors == [])
    }

    @Test("what a tracker did not take in one process comes after enable in the next, only to that tracker")
    func nextProcess() async throws {
        let (refusing, taking) = (NotingTracker("a") { _ in false }, NotingTracker("b"))
        let before = sample.tracking(trackers: refusing, taking)
        before.trackEvent(SampleEvent("1", trackers: "a", "b"))
        await before.flush()

        let after = try sample.copy()
        let (first, second) = (NotingTracker("A"), NotingTracker("b"))
        let tracking = after.tracking(trackers: first, second)
        tracking.trackEvent(SampleEvent("2", trackers: "a"))
        await tracking.flush()
        #expect(first.names.value == ["2"])
        tracking.enable()
        await tracking.flush()
        #expect(first.names.value == ["2", "1"])
        #expect(second.names.value == [])
        #expect(after.errors == [])
    }

    @Test("what waits for the end of a batch's interval, or for a tracker that hangs, survives the process, in order")
    func waiting() async throws {
        let names = (0..<100).map { "\($0)" }
        let before = sample.tracking(.batch(dispatchInterval: 3600), trackers: NotingTracker("a"))
        for name in names { #expect(before.trackEvent(SampleEvent(name, trackers: "a"))) }

        let after = try sample.copy()
        let tracker = NotingTracker("a")
        let tracking = after.tracking(trackers: tracker)
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == names)
        #expect(after.log == ["info: Tracking is enabled.", "info: 100 events restored"])
    }

    @Test(
        "of a batch in whose middle the process ends, only what was not answered comes again",
        arguments: [true, false]
    )
    func middle(answer: Bool) async throws {
        let gate = Watched(false)
        let hanging = NotingTracker("a") { $0 == "60" ? gate.hold() : answer }
        let before = sample.tracking(.batch(dispatchInterval: 3600), trackers: hanging)
        let names = (0..<100).map { "\($0)" }
        for name in names { before.trackEvent(SampleEvent(name, trackers: "a")) }
        before.completeAllOperations()
        await hanging.names.wait { $0.last == "60" }

        let after = try sample.copy()
        let tracker = NotingTracker("a")
        let tracking = after.tracking(trackers: tracker)
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value.sorted() == (answer ? Array(names[60...]) : names).sorted())
        #expect(after.errors == [])
        gate.update { $0 = true }
    }

    @Test("what was passed on before flush returned does not come again, though the process ends then")
    func flushed() async throws {
        let before = sample.tracking(trackers: NotingTracker("a"))
        for number in 0..<20 {
            before.trackEvent(SampleEvent("\(number)", trackers: "a"))
            await before.flush()
            let tracker = NotingTracker("a")
            let tracking = try sample.copy().tracking(trackers: tracker)
            tracking.enable()
            await tracking.flush()
            #expect(tracker.names.value == [])
        }
    }

    @Test("what is restored and not passed on is restored again")
    func again() async throws {
        let before = sample.tracking(.batch(dispatchInterval: 3600), trackers: NotingTracker("a"))
        before.trackEvent(SampleEvent("1", trackers: "a"))
        let between = try sample.copy()
        let restoring = between.tracking(.batch(dispatchInterval: 3600), trackers: NotingTracker("a"))
        restoring.enable()
        restoring.trackEvent(SampleEvent("2", trackers: "a"))

        let tracker = NotingTracker("a")
        let tracking = try between.copy().tracking(trackers: tracker)
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == ["1", "2"])
    }

    @Test("an event that was taken is there after the process is killed the moment after")
    func killed() async throws {
        let path = sample.folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let tracking = EventTracking(
                deliveryType: .batch(dispatchInterval: 3600),
                folder: URL(fileURLWithPath: path)
            )
            tracking.loadCustomTracker(NotingTracker("a"))
            for number in 0..<10 {
                guard tracking.trackEvent(SampleEvent("\(number)", trackers: "a")) else { exit(1) }
            }
            kill(getpid(), SIGKILL)
        }
        let tracker = NotingTracker("a")
        let tracking = sample.tracking(trackers: tracker)
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == (0..<10).map { "\($0)" })
    }

    @Test("events for a tracker that is not loaded stay until it is")
    func notLoaded() async throws {
        let before = sample.tracking(.batch(dispatchInterval: 3600), trackers: NotingTracker("a"))
        before.trackEvent(SampleEvent("1", trackers: "a"))
        let after = try sample.copy()
        let (other, tracker) = (NotingTracker("b"), NotingTracker("a"))
        let tracking = after.tracking(trackers: other)
        tracking.enable()
        tracking.loadCustomTracker(tracker)
        tracking.enable()
        await tracking.flush()
        #expect(other.names.value == [])
        #expect(tracker.names.value == ["1"])
    }

    @Test("without trackers enable does nothing")
    func noTrackers() {
        sample.tracking().enable()
        #expect(sample.log == [])
        #expect(!FileManager.default.fileExists(atPath: sample.folder.path))
    }

    @Test("unloadTrackers forgets what is stored, passes on what was just tracked, and takes no more")
    func unloading() async throws {
        let tracker = NotingTracker("a") { $0 != "undelivered" }
        let tracking = sample.tracking(.batch(dispatchInterval: 3600), trackers: tracker)
        tracking.trackEvent(SampleEvent("undelivered", trackers: "a"))
        await tracking.flush()
        tracking.trackEvent(SampleEvent("last", trackers: "a"))
        tracking.unloadTrackers()
        await tracker.waits(for: ["undelivered", "last"])
        #expect(tracking.trackEvent(SampleEvent("late", trackers: "a")))
        #expect(sample.errors == ["error: The event 'late' names the tracker 'a', which is not loaded."])

        let next = NotingTracker("a")
        tracking.loadCustomTracker(next)
        tracking.enable()
        await tracking.flush()
        #expect(next.names.value == [])
    }

    @Test("of what a tracker never takes the newest is kept, and what is lost is said")
    func undeliveredLimit() async throws {
        let before = sample.tracking(trackers: NotingTracker("a") { _ in false })
        let text = String(repeating: "x", count: 500_000)
        for number in 0..<100 {
            before.trackEvent(SampleEvent("\(number)", payload: ["text": text], trackers: "a"))
            await before.flush()
        }
        let tracker = NotingTracker("a")
        before.loadCustomTracker(tracker)
        #expect(sample.errors.contains { $0.contains("of the oldest events are lost") })
        before.enable()
        await before.flush()
        let names = tracker.names.value.compactMap { Int($0) }
        #expect(names == names.sorted() && names.last == 99)
        #expect((50..<70).contains(names.count))
    }

    @Test("what unloadTrackers forgets does not come back, though the process ends before a tracker that hangs is done")
    func unloadingAtTheEnd() async throws {
        let gate = Watched(false)
        let hanging = NotingTracker("a") { _ in gate.hold() }
        let tracking = sample.tracking(trackers: hanging)
        for number in 0..<10 { tracking.trackEvent(SampleEvent("\(number)", trackers: "a")) }
        await hanging.waits(for: ["0"])
        tracking.unloadTrackers()

        let after = try sample.copy()
        let tracker = NotingTracker("a")
        let next = after.tracking(trackers: tracker)
        next.enable()
        await next.flush()
        #expect(tracker.names.value == [])
        #expect(after.log == ["info: Tracking is enabled."])
        gate.update { $0 = true }
    }

    @Test("two of one process share a folder, and none takes what the other still has")
    func sharing() async {
        let (first, second) = (NotingTracker("a"), NotingTracker("a"))
        let one = sample.tracking(.batch(dispatchInterval: 3600), trackers: first)
        let other = sample.tracking(.batch(dispatchInterval: 3600), trackers: second)
        one.trackEvent(SampleEvent("1", trackers: "a"))
        other.trackEvent(SampleEvent("2", trackers: "a"))
        other.enable()
        await other.flush()
        #expect(second.names.value == ["2"])
        await one.flush()
        #expect(first.names.value == ["1"])
        #expect(sample.errors == [])
    }

    @Test("what is damaged is said, and the rest is restored")
    func damaged() async throws {
        let before = sample.tracking(.batch(dispatchInterval: 3600), trackers: NotingTracker("a"))
        for number in 0..<10 { before.trackEvent(SampleEvent("\(number)", trackers: "a")) }
        let after = try sample.copy()
        let files = FileManager.default.enumerator(atPath: after.folder.path)?.compactMap { $0 as? String } ?? []
        let segment = try #require(files.first { $0.hasSuffix(".segment") })
        let url = URL(fileURLWithPath: after.folder.path + "/" + segment)
        var bytes = try Data(contentsOf: url)
        let place = try #require(bytes.firstRange(of: Data(#""event":"3""#.utf8)))
        bytes[place.lowerBound] ^= 1
        try bytes.write(to: url)

        let tracker = NotingTracker("a")
        let tracking = after.tracking(trackers: tracker)
        tracking.enable()
        await tracking.flush()
        #expect(tracker.names.value == ["0", "1", "2", "4", "5", "6", "7", "8", "9"])
        #expect(!after.errors.isEmpty)
        #expect(after.errors.allSatisfy { $0.contains("A spool of 'a' is damaged") })
    }
}
