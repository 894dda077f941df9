/// A typed event, which the build plugin generates from a definition in the plan.
///
/// When it is tracked, its values are checked against those rules of the plan that its types do not already enforce.
public protocol AnalyticsEvent: PayloadObject {
    /// The catalog that defines the event.
    static var catalog: EventCatalog { get }

    /// The index of its definition in that catalog.
    static var definitionIndex: Int { get }
}

/// A value that is encoded as a JSON object: the payload of an event, or an object in one.
public protocol PayloadObject: Sendable {
    /// Encodes the properties, each exactly once, in the plan's order.
    func encode(into payload: inout PayloadEncoder)
}
