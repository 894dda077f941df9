import Foundation
import JustTrack
import PipelineTestSupport
import SluiceTesting
import Synchronization
import Testing

@Suite("JustTrack: undelivered events", .timeLimit(.minutes(5))) struct RestoringTests {
    private let sample = TrackingSample()

    @Test("an event that a tracker refuses does not delay later ones, and is delivered again after enable, not before")
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

    @Test("a refused event is delivered again after enable in the next process, to the same tracker only")
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

    @Test("events that wait for a batch's interval survive the end of the process, in order")
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
        "if the process ends in the middle of a batch, only the unanswered and the refused events are delivered again",
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

    @Test("events that were delivered before flush returned are not delivered again, even if the process ends at once")
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

    @Test("restored events that were not delivered are restored again")
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

    @Test("an accepted event survives if the process is killed at once")
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

    @Test("events for a tracker that is not loaded stay stored until it is loaded")
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

    @Test("enable does nothing if no tracker is loaded")
    func noTrackers() {
        sample.tracking().enable()
        #expect(sample.log == [])
        #expect(!FileManager.default.fileExists(atPath: sample.folder.path))
    }

    @Test("unloadTrackers removes stored events, delivers the events just tracked, and accepts no more")
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

    @Test("of the events that a tracker always refuses, the newest are stored; the others are lost, with an error")
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

    @Test("events that unloadTrackers removed are not restored, even if the process ends while a tracker hangs")
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

    @Test("two EventTrackings of one process can share a folder, and neither restores the events in use by the other")
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

    @Test("damage in a spool is reported, and the remaining events are restored")
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
