import EventSchema
import Foundation

/// The plan that generated events were made from.
public final class EventCatalog: Sendable {
    /// The definitions of the events; an event refers to its definition by index.
    let definitions: [EventDefinition]

    /// Creates the catalog that `event-codegen` wrote into generated code, as JSON.
    ///
    /// Only generated code calls this. A text that is not a plan stops the program, because it is a bug of the generator.
    public init(generated json: String) {
        do {
            definitions = try JSONDecoder().decode(TrackingPlan.self, from: Data(json.utf8)).events
        } catch {
            preconditionFailure("the generated catalog cannot be decoded; generate the code again: \(error)")
        }
    }
}
