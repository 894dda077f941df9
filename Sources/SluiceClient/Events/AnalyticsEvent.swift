/// A typed event, which the generator writes from a definition in the plan, for the library `SluiceClient`.
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
