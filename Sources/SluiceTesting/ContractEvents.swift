import EventModel
import EventSchema
import EventValidation

/// The plan that the contract uses, and events that follow it.
struct ContractEvents: Sendable {
    static let orderName = "Contract Order"
    static let remarkName = "Contract Remark"
    static let otherName = "Contract Other"

    let catalog: EventCatalog

    init(trackerName: String) {
        catalog = EventCatalog(plan: Self.plan(trackerName: trackerName))
    }

    private init(plan: TrackingPlan) {
        catalog = EventCatalog(plan: plan)
    }

    /// The events of a new plan that replaces this one and needs the same destination: they have other indexes, and one is gone.
    var ofNewPlan: ContractEvents {
        var plan = catalog.plan
        plan.events = plan.events.reversed().filter { $0.name != Self.otherName }
        return ContractEvents(plan: plan)
    }

    static func plan(trackerName: String) -> TrackingPlan {
        func location(_ line: Int) -> PlanLocation {
            PlanLocation(file: "contract.plist", line: line, column: 1)
        }
        return TrackingPlan(events: [
            EventDefinition(
                key: orderName,
                description: "What the contract mostly delivers.",
                trackers: [trackerName],
                properties: [
                    PropertyDefinition(name: "number", type: .integer, location: location(2)),
                    PropertyDefinition(name: "text", type: .string, location: location(3)),
                ],
                location: location(1)
            ),
            EventDefinition(
                key: remarkName,
                description: "An event without properties.",
                trackers: [trackerName],
                location: location(4)
            ),
            EventDefinition(
                key: otherName,
                description: "An event of another tracker, which must not be delivered.",
                trackers: [trackerName + "-other"],
                location: location(5)
            ),
        ])
    }

    /// A batch of `count` events for the tracker; one in four has no properties.
    func batch(_ count: Int, textLength: Int? = nil) -> EventBatch {
        .scripted(catalog: catalog, events: (0..<count).map { event($0, textLength: textLength) })
    }

    /// The tracker's slice of a batch in which every second event is another tracker's.
    func mixedSlice(_ count: Int) -> EventSlice {
        let events = (0..<count).flatMap { [ScriptedEvent(Self.otherName, id: Self.freshID()), event($0)] }
        let batch = EventBatch.scripted(catalog: catalog, events: events)
        let mask = catalog.trackerNames.first.map { catalog.mask(ofTracker: $0) } ?? 0
        return EventSlice(batch, for: mask) ?? EventSlice(batch)
    }

    private func event(_ number: Int, textLength: Int? = nil) -> ScriptedEvent {
        let id = Self.freshID()
        let time = Timestamp(microseconds: Timestamp.now().microseconds, fractionDigits: UInt8(number % 7))
        if number % 4 == 3, textLength == nil {
            return ScriptedEvent(Self.remarkName, id: id, time: time, receivedAt: .now())
        }
        let text = textLength.map { String(repeating: "x", count: $0) } ?? #"Zoë said \"50 %\"\n\t\\ 日本 🙂"#
        return ScriptedEvent(
            Self.orderName,
            id: id,
            time: time,
            receivedAt: .now(),
            userID: number % 2 == 0 ? "user-\(number % 10)" : nil,
            payload: #"{"number":\#(number),"text":"\#(text)"}"#
        )
    }

    private static func freshID() -> EventID {
        EventID(version7At: .now(), randomA: .random(in: 0...UInt16.max), randomB: .random(in: 0...UInt64.max))
    }
}
