/// All event definitions of a product, as `PlanReader` reads them from plist files.
public struct TrackingPlan: Sendable, Hashable, Codable {
    /// The plan's own version, if a file states one.
    public var version: String?
    /// The definitions, in the order of their files and of their keys in each file.
    public var events: [EventDefinition]

    /// Makes a plan without checking its definitions; `PlanReader` checks what it reads.
    public init(version: String? = nil, events: [EventDefinition]) {
        self.version = version
        self.events = events
    }
}
