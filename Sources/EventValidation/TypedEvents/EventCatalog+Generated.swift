import EventSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EventCatalog {
    /// The catalog that `event-codegen` wrote into generated code, as JSON.
    ///
    /// Only generated code calls this: a text that is no plan ends the program, because it is a fault of the generator.
    public convenience init(generated json: String) {
        do {
            self.init(plan: try JSONDecoder().decode(TrackingPlan.self, from: Data(json.utf8)))
        } catch {
            preconditionFailure("the generated catalog cannot be read; generate it anew: \(error)")
        }
    }
}
