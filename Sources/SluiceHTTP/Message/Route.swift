/// The resources of the port.
enum Route {
    /// Events in Sluice's own format.
    case events
    /// Events in Sluice's own format that are checked and not stored.
    case validate
    /// Events in the format of other clients.
    case dialect(any Dialect)
    /// The settings that a client for browsers loads before it sends.
    case settings(ClientSettings)
    /// Whether the process runs.
    case livez
    /// Whether events are accepted.
    case readyz

    /// The resource that a request's target names; `nil` for an unknown path.
    init?(uri: String) {
        // The common case, without a walk over the path.
        if uri == "/v1/events" {
            self = .events
            return
        }
        let path = Self.path(of: uri.utf8[...])
        if path.elementsEqual("/v1/events".utf8) {
            self = .events
        } else if path.elementsEqual("/v1/validate".utf8) {
            self = .validate
        } else if path.elementsEqual("/livez".utf8) {
            self = .livez
        } else if path.elementsEqual("/readyz".utf8) {
            self = .readyz
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
