import EventModel
import EventSchema
public import EventValidation
public import TrackerKit

/// A tracker that keeps every event it receives, for tests of code that tracks events.
///
/// A test awaits `Pipeline.flush`, or the end of `Pipeline.run`, before it looks at what was received.
public final class RecordingTracker: Tracker {
    /// The name by which the plan's events name it.
    public let name: String
    private let recorded = Watched<[RecordedEvent]>([])

    /// Makes a tracker that stands in for the one of this name.
    public init(name: String) {
        self.name = name
    }

    /// Everything it received, in order.
    public var events: [RecordedEvent] { recorded.value }

    /// The events of one type that it received, in order; they compare with typed events.
    ///
    /// - Throws: `TrackerError` if the type's catalog has no definition for it, as with a hand-written type.
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

    /// Waits until it has received so many events.
    public func waitForEvents(_ count: Int) async {
        await recorded.wait { $0.count >= count }
    }

    /// Keeps the events.
    public func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let events = delivery.map(RecordedEvent.init)
        recorded.update { $0 += events }
        return .delivered
    }
}
