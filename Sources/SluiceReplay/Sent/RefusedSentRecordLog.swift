import EventValidation
import Synchronization
import TrackerKit

/// Removes the records whose events the tracker has delivered from its destination; those that it refused again stay.
final class RefusedSentRecordLog: SentRecordLog {
    private let tracker: any PartitionTracker
    private let delivered: DeliveredEvents

    init(_ tracker: any PartitionTracker, _ delivered: DeliveredEvents) {
        self.tracker = tracker
        self.delivered = delivered
    }

    func store(_ sent: [SentRecord], areSettled: Bool) async throws -> [SentRecord] {
        let events = delivered.events
        let keys = sent.compactMap { record -> RefusedRecordKey? in
            guard case .refused(let key) = record.key, events.contains(record.event) else { return nil }
            return key
        }
        _ = try await tracker.removeRefused(keys)
        guard !areSettled else {
            delivered.removeAll()
            return []
        }
        return sent.filter { !events.contains($0.event) }
    }
}

/// The events that a tracker has delivered since they were last removed.
final class DeliveredEvents: Sendable {
    private let state = Mutex<Set<EventKey>>([])

    var events: Set<EventKey> { state.withLock { $0 } }

    func add(_ events: [EventKey]) { state.withLock { $0.formUnion(events) } }

    func removeAll() { state.withLock { $0 = [] } }
}

/// A tracker that notes which events it has delivered.
struct NotingTracker: Tracker {
    private let tracker: any Tracker
    private let delivered: DeliveredEvents

    init(_ tracker: any Tracker, _ delivered: DeliveredEvents) {
        self.tracker = tracker
        self.delivered = delivered
    }

    var name: String { tracker.name }

    var deliveryLimits: DeliveryLimits? { tracker.deliveryLimits }

    func checkSettings(for catalog: EventCatalog) throws(TrackerError) {
        try tracker.checkSettings(for: catalog)
    }

    func start(for catalog: EventCatalog) async throws(TrackerError) {
        try await tracker.start(for: catalog)
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let outcome = await tracker.deliver(delivery)
        // Without positions, everything is retried.
        if let retry = outcome.retry, retry.positions == nil { return outcome }
        let others = Set(outcome.refusals.map(\.position) + (outcome.retry?.positions ?? []))
        let events = delivery.enumerated().filter { !others.contains($0.offset) }.map(\.element)
        delivered.add(events.map { EventKey(id: $0.id, time: $0.time) })
        return outcome
    }

    func stop() async { await tracker.stop() }
}
