import EventPipeline
public import Foundation
import Synchronization

/// Passes an app's events on to its trackers.
///
/// It may be called from any thread; `logClosure` is called on the threads that do, and on no other.
public final class EventTracking {
    /// Called with what is worth knowing, where it is set: for a log, or the console.
    ///
    /// What happens on threads of this library's own is told with the next call of any method here.
    public var logClosure: ((_ logString: String, _ logLevel: TrackingLogLevel) -> Void)?

    /// When events are passed on to trackers.
    public let deliveryType: TrackingDeliveryType

    let defaults: JustTrackDefaults
    let relay = LogRelay()
    private let storage: EventStorage
    /// By their trackers' names in lower case.
    private let lanes = Mutex<[String: TrackerLane]>([:])

    /// Keeps undelivered events in the app's own state folder.
    ///
    /// Application Support on macOS, and `XDG_STATE_HOME` or `~/.local/state` elsewhere; in it, the app's name, and
    /// `JustTrack`.
    public convenience init(deliveryType: TrackingDeliveryType = .immediate) {
        self.init(deliveryType: deliveryType, storage: .standard(), defaults: .standard)
    }

    /// Keeps undelivered events in a folder, which is made where it is not there.
    ///
    /// Several processes may share one. What else is in it is left alone.
    public convenience init(deliveryType: TrackingDeliveryType = .immediate, folder: URL) {
        self.init(deliveryType: deliveryType, storage: EventStorage(folder: folder.path), defaults: .standard)
    }

    /// Takes what JustTrack itself stored from `defaults`.
    package init(deliveryType: TrackingDeliveryType, storage: EventStorage, defaults: UserDefaults) {
        self.deliveryType = deliveryType
        self.storage = storage
        self.defaults = JustTrackDefaults(defaults: defaults)
    }

    deinit {
        for lane in lanes.withLock({ $0.values.map(\.self) }) { lane.close() }
    }

    /// Loads a tracker that comes with this library.
    public func loadDefaultTracker(_ type: TrackerType) {
        switch type {
        case .consoleLogger: loadCustomTracker(TrackerConsole())
        }
    }

    /// Loads a tracker; one that was loaded under the same name gets no more events.
    public func loadCustomTracker(_ tracker: any EventTracker) {
        let name = tracker.name
        let replaced = lanes.withLock { lanes in
            if let lane = lanes[name.lowercased()] { return TrackerLane?.some(lane) }
            lanes[name.lowercased()] = TrackerLane(
                name: name,
                tracker: tracker,
                spools: storage.spools(ofTracker: name),
                linger: deliveryType.linger,
                logger: relay.logger
            )
            return nil
        }
        replaced?.replaceTracker(with: tracker)
        tellLog()
    }

    /// Takes an event for those of its trackers that are loaded; returns whether it was taken.
    ///
    /// When it returns, the event is written where it survives the end of the process. It is refused where it has no name,
    /// names no tracker, or holds what cannot be stored; and where the disk takes no more, by those trackers for which it
    /// does not. A tracker that is not loaded misses the event. The log tells all of that.
    @discardableResult
    public func trackEvent(_ event: any Event) -> Bool {
        defer { tellLog() }
        let (name, trackers) = (event.name, event.registeredTrackers)
        guard !name.isEmpty, !trackers.isEmpty else {
            relay.add("An event of type \(type(of: event)) has no name, or no trackers, and is refused.", .error)
            return false
        }
        return take(name, event.payload, for: trackers)
    }

    /// Takes again what trackers did not get, or did not take: in earlier processes, and in this one.
    ///
    /// When it returns, those events stand behind the ones tracked before. Without trackers it does nothing.
    public func enable() {
        defer { tellLog() }
        let lanes = lanes.withLock { Array($0.values) }
        guard !lanes.isEmpty else { return }
        relay.add("Tracking is enabled.", .info)
        let count = restoreFromDefaults() + lanes.reduce(0) { $0 + $1.restore() }
        if count > 0 { relay.add("\(count) events restored", .info) }
    }

    /// Passes on at once what waits for the end of a batch's interval; does not wait for it.
    public func completeAllOperations() {
        for lane in lanes.withLock({ Array($0.values) }) { lane.endLingering() }
        tellLog()
    }

    /// Waits until every event tracked so far was passed on; what waits for a batch's interval is passed on at once.
    ///
    /// JustTrack had nothing like it. It is for programs that end by themselves, and for tests.
    public func flush() async {
        for lane in lanes.withLock({ Array($0.values) }) { await lane.flush() }
        tellLog()
    }

    /// Forgets all trackers, and all events that are stored for them or others.
    ///
    /// What was tracked just before is still passed on, and what another `EventTracking` has at hand stays there.
    public func unloadTrackers() {
        let unloaded = lanes.withLock { lanes in
            defer { lanes = [:] }
            return Array(lanes.values)
        }
        for lane in unloaded { lane.close(discarding: true) }
        for spools in storage.all { spools.removeUnused() }
        defaults.removeAll()
        tellLog()
    }
}

extension EventTracking {
    /// Whether a tracker has this name.
    func isLoaded(_ name: String) -> Bool {
        lanes.withLock { $0[name.lowercased()] != nil }
    }

    /// Takes an event for those of the named trackers that are loaded; false where one of them will miss it.
    func take(_ name: String, _ payload: Payload, for trackers: [String]) -> Bool {
        do throws(RecordError) {
            let record = try RecordWriter.json(name: name, payload: payload)
            // All first, so that they are written side by side.
            let receipts = lanes(named: trackers, for: name).map { receipt(for: record, of: name, in: $0) }
            return receipts.map { isTaken($0, name) }.allSatisfy(\.self)
        } catch {
            relay.add("The event '\(name)' is refused: \(error)", .error)
            return false
        }
    }

    private func receipt(for record: [UInt8], of event: String, in lane: TrackerLane) -> CommitReceipt? {
        do throws(RecordError) {
            return try lane.track(record)
        } catch {
            relay.add("The event '\(event)' is refused for the tracker '\(lane.name)': \(error)", .error)
            return nil
        }
    }

    /// The lanes of an event's trackers; a name that no tracker has is told.
    private func lanes(named names: [String], for event: String) -> [TrackerLane] {
        let found = lanes.withLock { lanes in names.map { lanes[$0.lowercased()] } }
        return zip(names, found).compactMap { name, lane in
            if lane == nil {
                relay.add("The event '\(event)' names the tracker '\(name)', which is not loaded.", .error)
            }
            return lane
        }
    }

    private func isTaken(_ receipt: CommitReceipt?, _ event: String) -> Bool {
        guard let receipt else { return false }
        do throws(SubmissionError) {
            if try !receipt.waitBriefly() { relay.add("The event '\(event)' is not written yet.", .error) }
            return true
        } catch {
            relay.add("The event '\(event)' could not be stored, and is refused: \(error)", .error)
            return false
        }
    }

    private func tellLog() {
        let lines = relay.takeLines()
        for line in lines { logClosure?(line.text, line.level) }
    }
}
