import EventSchema

/// The plan as a document, with a chapter for each owner.
struct Catalogue {
    /// The events of one owner, in the plan's order.
    struct Chapter {
        /// `nil` for events without an owner.
        let owner: String?
        let events: [EventDefinition]
    }

    let title: String
    /// In the order of their first events; the chapter without an owner comes last.
    let chapters: [Chapter]
    /// The trackers of all events, each once, in the order of the plan.
    let trackers: [String]
    let eventCount: Int

    init(_ plan: TrackingPlan) {
        title = "Tracking plan" + (plan.version.map { " \($0)" } ?? "")
        eventCount = plan.events.count
        let owners = Self.distinct(plan.events.compactMap(\.owner))
        let owned = owners.map { owner in Chapter(owner: owner, events: plan.events.filter { $0.owner == owner }) }
        let others = plan.events.filter { $0.owner == nil }
        chapters = owned + (others.isEmpty ? [] : [Chapter(owner: nil, events: others)])
        trackers = Self.distinct(plan.events.flatMap(\.trackers).map { $0.lowercased() })
    }

    private static func distinct(_ texts: [String]) -> [String] {
        var known: Set<String> = []
        return texts.filter { known.insert($0).inserted }
    }
}
