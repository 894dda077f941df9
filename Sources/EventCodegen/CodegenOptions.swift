/// What the generated code is to look like.
public struct CodegenOptions: Sendable, Hashable {
    /// Who can use the generated types.
    public enum AccessLevel: String, Sendable, Hashable, CaseIterable {
        /// Every module.
        case `public`
        /// The modules of the same package.
        case `package`
        /// The module itself.
        case `internal`
    }

    /// Whose API the generated types have.
    public enum Style: String, Sendable, Hashable, CaseIterable {
        /// Sluice's own: structs with typed properties.
        case sluice
        /// JustTrack's: classes named `Event…`, with strings whose absence is the empty one.
        case justtrack
    }

    /// Who can use the types; `internal` unless told, and in JustTrack's style `public`.
    public var accessLevel: AccessLevel
    /// What the names of the events' types begin with; nothing unless told, and nothing in JustTrack's style.
    ///
    /// The catalog's name then begins with it, too: `Shop` makes `EventCatalog.shopEvents`.
    public var typePrefix: String
    /// Whose API the types have; Sluice's unless told.
    public var style: Style

    /// Takes the defaults, or what is stated instead.
    public init(accessLevel: AccessLevel? = nil, typePrefix: String = "", style: Style = .sluice) {
        self.accessLevel = accessLevel ?? (style == .justtrack ? .public : .internal)
        self.typePrefix = typePrefix
        self.style = style
    }
}
