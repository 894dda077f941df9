import EventSchema

/// What one file says: the second stage's result, in which names still stand for what they name.
struct PlanFile: Sendable {
    /// The place of the file's root.
    var place: PlistPlace
    var version: PlacedText?
    /// The trackers that the file declares; `nil` when it declares none.
    var trackers: [PlacedText]?
    /// The trackers that it says fill PostgreSQL's tables.
    var postgresTrackers: [PlacedText] = []
    var groups: [PropertyGroup] = []
    var events: [EventDraft] = []
}

/// Properties with a name, which events pull in with `include`.
struct PropertyGroup: Sendable {
    var name: PlacedText
    var properties: [PropertyDefinition] = []
    /// Other groups whose properties belong to this one as well.
    var includes: [PlacedText] = []
}

/// An event whose property groups have not been pulled in yet.
struct EventDraft: Sendable {
    /// The definition with its own properties only.
    var definition: EventDefinition
    /// Where the name on the wire stands: at `name`, or else at the key.
    var name: PlacedText
    var trackers: [PlacedText] = []
    var includes: [PlacedText] = []
}
