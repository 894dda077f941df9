import EventSchema

/// Writes the struct of an event.
struct EventRenderer {
    let event: SwiftEvent
    let index: Int
    let namespace: String
    let access: String
    let names: TypeNames

    func render() -> [String] {
        let definition = event.definition
        let owner = definition.owner.map { "Owned by \($0)." }
        let trackers = "Goes to \(definition.trackers.joined(separator: ", "))."
        var documentation = SwiftText.documentation([
            definition.description, "`\(definition.name)` on the wire.", owner.map { "\($0) \(trackers)" } ?? trackers,
        ])
        if let message = definition.deprecated {
            documentation.append("@available(*, deprecated, message: \(SwiftText.literal(message)))")
        }
        let names = names.inside(event.object)
        return ObjectRenderer(event.object, access: access, names: names).render(
            documentation: documentation,
            protocolName: "AnalyticsEvent",
            extra: [
                "/// The catalog that defines the event.",
                "\(access)static var catalog: \(names.sluice("EventCatalog")) { \(namespace).catalog }",
                "/// The place of its definition in the catalog.",
                "\(access)static var definitionIndex: \(names.swift("Int")) { \(index) }",
            ]
        )
    }
}
