/// An event as a type of its own: what the build plugin makes of a definition in the plan.
///
/// Its values are held against the plan when it is tracked; what its type already says is not checked again.
public protocol AnalyticsEvent: PayloadObject {
    /// The catalog that defines the event.
    static var catalog: EventCatalog { get }

    /// The place of its definition in that catalog.
    static var definitionIndex: Int { get }
}

/// A value that is encoded as a JSON object: an event's payload, or an object within one.
public protocol PayloadObject: Sendable {
    /// Encodes the properties, each exactly once, in the order of the plan.
    func encode(into payload: inout PayloadEncoder)
}
