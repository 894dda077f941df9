import EventSchema
import PlanReading

/// Something in the plan, and its name in generated Swift.
struct NamedThing {
    /// A description for sentences, such as `the type of 'lines'`.
    let thing: String
    let name: String
    let location: PlanLocation

    init(_ thing: String, _ name: String, at location: PlanLocation) {
        self.thing = thing
        self.name = name
        self.location = location
    }

    /// Reports each thing whose name collides with that of an earlier one, at its place.
    static func collisions(
        of things: [NamedThing],
        remedy: String = "give one of them a 'swiftName'"
    ) -> [Diagnostic] {
        var known: [String: NamedThing] = [:]
        return things.compactMap { second in
            guard let first = known[second.name] else {
                known[second.name] = second
                return nil
            }
            let sentence = """
                \(second.thing) becomes \(quoted(second.name)) in Swift, as does \(first.thing) at \(first.location); \
                \(remedy)
                """
            return Diagnostic(.swiftNameCollision, at: second.location, sentence)
        }
    }
}
