import EventPipeline
public import Foundation
import Synchronization

/// Passes an app's events to its trackers.
///
/// Any thread may call it. `logClosure` is called only on threads that call a method of it.
public final class EventTracking {
    /// Called with each log line, if it is set.
    ///
    /// Lines from threads of this library are passed on during the next call of any method of this type.
    public var logClosure: ((_ logString: String, _ logLevel: TrackingLogLevel) -> Void)?

    /// When events are passed to trackers.
    public let deliveryType: TrackingDeliveryType

    private let defaults: JustTrackDefaults
    private let relay = LogRelay()
    private let storage: EventStorage
    /// By the names of their trackers in lower case.
    private let lanes = Mutex<[String: TrackerLane]>([:])

    /// Stores undelivered events in the app's state folder.
    ///
    /// The folder is `APP/JustTrack` in Application Support on macOS, and in `XDG_STATE_HOME` or `~/.local/state`
    /// elsewhere.
    public convenience init(deliveryType: TrackingDeliveryType = .immediate) {
        self.init(deliveryType: deliveryType, storage: .standard(), defaults: .standard)
    }

    /// Stores undelivered events in a folder, which is created if it does not exist.
    ///
    /// Several processes may share a folder. Other files in it are not changed.
    public convenience init(deliveryType: TrackingDeliveryType = .immediate, folder: URL) {
        self.init(deliveryType: deliveryType, storage: EventStorage(folder: folder.path), defaults: .standard)
    }

    /// Restores the events of the original JustTrack from `defaults`.
    package init(deliveryType: TrackingDeliveryType, storage: EventStorage, defaults: UserDefaults) {
        self.deliveryType = deliveryType
        self.storage = storage
        self.defaults = JustTrackDefaults(defaults: defaults)
    }

    deinit {
        for lane in lanes.withLock({ $0.values.map(\.self) }) { lane.close() }
    }

    /// Loads a built-in tracker.
    public func loadDefaultTracker(_ type: TrackerType) {
        switch type {
        case .consoleLogger: loadCustomTracker(TrackerConsole())
        }
    }

    /// Loads a tracker; it replaces a loaded tracker of the same name.
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

    /// Tracks an event for its trackers that are loaded; returns whether all of them will get it.
    ///
    /// When it returns, the event is written to a file and survives the end of the process. It is refused if it has no name
    /// or no trackers, or if a value cannot be stored; a tracker whose events cannot be written to the disk misses it, and
    /// so does a tracker that is not loaded. The log names each reason.
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

    /// Tracks the undelivered events of earlier processes again, and the events that trackers answered with `false`.
    ///
    /// They are delivered after the events that were tracked before. Without loaded trackers it does nothing.
    public func enable() {
        defer { tellLog() }
        let lanes = lanes.withLock { Array($0.values) }
        guard !lanes.isEmpty else { return }
        relay.add("Tracking is enabled.", .info)
        let count = restoreFromDefaults() + lanes.reduce(0) { $0 + $1.restore() }
        if count > 0 { relay.add("\(count) events restored", .info) }
    }

    /// Delivers events immediately that wait for the end of a batch's interval; does not wait for the delivery.
    public func completeAllOperations() {
        for lane in lanes.withLock({ Array($0.values) }) { lane.endLingering() }
        tellLog()
    }

    /// Waits until every event tracked so far was passed to its trackers; does not wait for a batch's interval.
    ///
    /// The original JustTrack has no such method. It is for short-lived programs, and for tests.
    public func flush() async {
        for lane in lanes.withLock({ Array($0.values) }) { await lane.flush() }
        tellLog()
    }

    /// Unloads all trackers, and removes all stored events, including those of other trackers.
    ///
    /// Events that are being delivered are still delivered. Events of another `EventTracking` that is in use are kept.
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
    /// Whether a tracker with this name is loaded.
    private func isLoaded(_ name: String) -> Bool {
        lanes.withLock { $0[name.lowercased()] != nil }
    }

    /// Tracks an event for the named trackers that are loaded; returns false if one of them will miss it.
    private func take(_ name: String, _ payload: Payload, for trackers: [String]) -> Bool {
        do throws(RecordError) {
            let record = try RecordWriter.json(name: name, payload: payload)
            // All are submitted before the first wait, so that they are written concurrently.
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

    /// The lanes of an event's trackers; logs the names of trackers that are not loaded.
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
        do throws(TrackError) {
            if try !receipt.waitBriefly() { relay.add("The event '\(event)' is not written yet.", .error) }
            return true
        } catch {
            relay.add("The event '\(event)' could not be stored, and is refused: \(error)", .error)
            return false
        }
    }

    /// Tracks the events that the original JustTrack stored for the loaded trackers; returns how many.
    private func restoreFromDefaults() -> Int {
        do {
            let events = try defaults.events().filter { isLoaded($0.tracker) }
            guard !events.isEmpty else { return 0 }
            let taken = events.filter { take($0.name, $0.payload, for: [$0.tracker]) }
            try defaults.remove(taken)
            return taken.count
        } catch {
            relay.add("What JustTrack stored in the app's defaults cannot be read: \(error)", .error)
            return 0
        }
    }

    private func tellLog() {
        let lines = relay.takeLines()
        for line in lines { logClosure?(line.text, line.level) }
    }
}
