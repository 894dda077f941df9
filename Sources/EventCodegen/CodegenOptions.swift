import EventSchema

/// Options of the generated code.
package struct CodegenOptions: Sendable, Hashable {
    /// Who can use the generated types.
    package enum AccessLevel: String, Sendable, Hashable, CaseIterable {
        /// Every module.
        case `public`
        /// The modules of the same package.
        case `package`
        /// The module itself.
        case `internal`
    }

    /// The API of the generated types.
    package enum Style: String, Sendable, Hashable, CaseIterable {
        /// Sluice's own: structs with typed properties.
        case sluice
        /// JustTrack's: classes named `Event…`, in which an empty string means that a value is absent.
        case justtrack
    }

    /// The library that the generated code imports.
    package enum Library: String, Sendable, Hashable, CaseIterable {
        /// For services: events are tracked by a pipeline of the same process.
        case sluice = "Sluice"
        /// For apps: events are sent to a server.
        case client = "SluiceClient"
    }

    /// Who can use the types.
    ///
    /// Default: `internal`, and `public` in JustTrack's style.
    package var accessLevel: AccessLevel
    /// The enum that holds the events' types and the plan's catalog.
    ///
    /// JustTrack's style has none. Default: `Events`.
    package var namespace: String
    /// Whose API the types have.
    ///
    /// Default: Sluice's.
    package var style: Style
    /// The library whose types the generated code uses; JustTrack's style ignores it.
    ///
    /// Default: `Sluice`.
    package var library: Library

    /// The default namespace of a target: its name and `Events`.
    ///
    /// A target whose name already ends in `Events` gets `Plan` instead, because an enum that is named like its module hides
    /// the module: `Shop` and `ShopEvents` become `ShopEvents` and `ShopPlan`.
    package static func namespace(ofTarget target: String) -> String {
        let name = SwiftName.unescaped(SwiftName.type(target))
        guard name.hasSuffix("Events") else { return name + "Events" }
        let stem = name.dropLast("Events".count)
        return (stem.isEmpty ? "Event" : stem) + "Plan"
    }

    /// Makes options; arguments that are left out have their defaults.
    package init(
        accessLevel: AccessLevel? = nil,
        namespace: String = "Events",
        style: Style = .sluice,
        library: Library = .sluice
    ) {
        self.accessLevel = accessLevel ?? (style == .justtrack ? .public : .internal)
        self.namespace = namespace
        self.style = style
        self.library = library
    }
}
