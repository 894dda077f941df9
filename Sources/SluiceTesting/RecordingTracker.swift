import EventModel
import EventSchema
public import EventValidation
public import TrackerKit

/// A tracker that records every event it receives, for tests of code that tracks events.
///
/// A test awaits `Pipeline.flush`, or the end of `Pipeline.run`, before it checks the events.
public final class RecordingTracker: Tracker {
    /// The name that the plan's events refer to.
    public let name: String
    private let recorded = Watched<[RecordedEvent]>([])

    /// Creates a tracker that replaces the one with this name.
    public init(name: String) {
        self.name = name
    }

    /// The events that it received, in order.
    public var events: [RecordedEvent] { recorded.value }

    /// The events of one type that it received, in order; they can be compared with typed events.
    ///
    /// - Throws: `TrackerError` if the type's catalog does not define it, which can happen with a hand-written type.
    public func events<Event: AnalyticsEvent>(_ type: Event.Type) throws(TrackerError) -> RecordedEvents<Event> {
        guard type.catalog.definitions.indices.contains(type.definitionIndex) else {
            throw TrackerError(
                code: .misconfigured,
                message: "The catalog of \(type) has no definition with the index \(type.definitionIndex).",
                isRetryable: false
            )
        }
        let name = type.catalog.definitions[type.definitionIndex].name
        return RecordedEvents(events.filter { $0.name == name })
    }

    /// Waits until it has received at least `count` events.
    public func waitForEvents(_ count: Int) async {
        await recorded.wait { $0.count >= count }
    }

    /// Records the events.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let events = delivery.map(RecordedEvent.init)
        recorded.update { $0 += events }
        return .delivered
    }
}
