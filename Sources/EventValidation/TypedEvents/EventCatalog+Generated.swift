import EventSchema

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension EventCatalog {
    /// Creates the catalog that `event-codegen` wrote into generated code, as JSON.
    ///
    /// Only generated code calls this. A text that is not a plan stops the program, because it is a bug of the generator.
    public convenience init(generated json: String) {
        do {
            self.init(plan: try JSONDecoder().decode(TrackingPlan.self, from: Data(json.utf8)))
        } catch {
            preconditionFailure("the generated catalog cannot be decoded; generate the code again: \(error)")
        }
    }
}
