/// The resources of the port.
enum Route {
    /// Events in Sluice's own format.
    case events
    /// Events in Sluice's own format that are checked and not stored.
    case validate
    /// The JSON Schema of what the sender may send.
    case plan
    /// Events in the format of other clients.
    case dialect(any Dialect)
    /// The settings that a client for browsers loads before it sends.
    case settings(ClientSettings)
    /// Whether the process runs.
    case livez
    /// Whether events are accepted.
    case readyz

    /// The resources of Sluice itself, by their paths.
    private static let own: [(path: String, route: Route)] = [
        ("/v1/events", .events), ("/v1/validate", .validate), ("/v1/plan", .plan), ("/livez", .livez),
        ("/readyz", .readyz),
    ]

    /// The paths of Sluice's own resources.
    fileprivate static var ownPaths: [String] { own.map(\.path) }

    /// The resource that a request's target names; `nil` for an unknown path.
    init?(uri: String) {
        // The common case, without a walk over the path.
        if uri == "/v1/events" {
            self = .events
            return
        }
        let path = Self.path(of: uri.utf8[...])
        if let (_, route) = Self.own.first(where: { path.elementsEqual($0.path.utf8) }) {
            self = route
        } else if let endpoint = SegmentEndpoint(path: path) {
            self = .dialect(endpoint)
        } else if let settings = ClientSettings(path: path) {
            self = .settings(settings)
        } else if let endpoint = PostHogEndpoint(path: path, query: Self.query(of: uri.utf8[...])) {
            self = .dialect(endpoint)
        } else {
            return nil
        }
    }

    /// The query string of a target.
    static func query(of uri: Substring.UTF8View) -> Substring.UTF8View {
        uri.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
    }

    // A server has to accept the absolute form (RFC 9112, section 3.2.2).
    private static func path(of uri: Substring.UTF8View) -> Substring.UTF8View {
        let path = uri.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if path.prefix(7).equalsIgnoringCase("http://") { return path.dropFirst(7).drop { $0 != UInt8(ascii: "/") } }
        if path.prefix(8).equalsIgnoringCase("https://") { return path.dropFirst(8).drop { $0 != UInt8(ascii: "/") } }
        return path
    }
}

/// Everything that the port serves, for what describes it from outside.
package enum ServedPaths {
    /// The paths; a part of one that varies is a name in braces.
    package static let all = Route.ownPaths + SegmentEndpoint.paths + ClientSettings.paths + PostHogEndpoint.paths
}
