import EventSchema

/// The definitions of one file, the second stage's result, in which references by name are not resolved yet.
struct PlanFile: Sendable {
    /// The place of the file's root.
    var place: PlistPlace
    var version: PlacedText?
    /// The trackers that the file declares; `nil` when it declares none.
    var trackers: [PlacedText]?
    /// The trackers that the file lists in `postgresTrackers`.
    var postgresTrackers: [PlacedText] = []
    /// The keys of the context that the file protects.
    var context: [ContextAttribute] = []
    /// The trackers that the file lists in `sensitive`.
    var sensitiveTrackers: [PlacedText] = []
    var groups: [PropertyGroup] = []
    var events: [EventDraft] = []
}

/// A named group of properties, which events reference with `include`.
struct PropertyGroup: Sendable {
    var name: PlacedText
    var properties: [PropertyDefinition] = []
    /// Other groups whose properties this group includes.
    var includes: [PlacedText] = []
}

/// An event before its property groups are expanded.
struct EventDraft: Sendable {
    /// The definition, with only its own properties.
    var definition: EventDefinition
    /// The name on the wire, with the place of `name` or else of the key.
    var name: PlacedText
    var trackers: [PlacedText] = []
    var includes: [PlacedText] = []
}
