@_spi(CanonicalJSON) import EventModel

/// The settings that clients for browsers load from the server before they send.
enum ClientSettings {
    /// Those of Segment's analytics.js, for the key in the path.
    ///
    /// Source: https://github.com/segmentio/analytics-next, `packages/browser/src/browser/settings.ts`.
    case segment(key: [UInt8])
    /// Those of RudderStack's client, whose key is in the header or in the query string.
    ///
    /// Source: https://github.com/rudderlabs/rudder-sdk-js, `packages/analytics-js/src/components/configManager`.
    case rudderStack

    private static let segmentPath = "/v1/projects/{key}/settings"
    private static let rudderStackPath = "/sourceConfig"

    /// The paths of all settings.
    static let paths = [segmentPath, rudderStackPath]

    /// The settings of a path; `nil` if it names none.
    init?(path: some Collection<UInt8>) {
        let parts = path.split(separator: UInt8(ascii: "/")).map { [UInt8]($0) }
        if let key = Self.placeholders(of: Self.segmentPath, in: parts)?.first {
            self = .segment(key: PercentCoding.decode(key))
        } else if Self.placeholders(of: Self.rudderStackPath, in: parts) != nil {
            self = .rudderStack
        } else {
            return nil
        }
    }

    /// What a path has in the place of names in braces; `nil` if it has another form.
    private static func placeholders(of template: String, in parts: [[UInt8]]) -> [[UInt8]]? {
        let names = template.utf8.split(separator: UInt8(ascii: "/"))
        guard names.count == parts.count else { return nil }
        var placeholders: [[UInt8]] = []
        for (name, part) in zip(names, parts) {
            if name.first == UInt8(ascii: "{") {
                placeholders.append(part)
            } else if !name.elementsEqual(part) {
                return nil
            }
        }
        return placeholders
    }

    /// The key in the path; `nil` if it is elsewhere.
    var key: [UInt8]? {
        if case .segment(let key) = self { key } else { nil }
    }

    /// The settings as JSON: no destinations of their own, and all events to this server.
    ///
    /// The client sends `key` with each event and knows the server as `host`; `isEncrypted` says whether it uses TLS.
    func json(key: [UInt8], host: String, isEncrypted: Bool) -> [UInt8] {
        let key = Self.json(String(decoding: key, as: UTF8.self))
        switch self {
        case .segment:
            // The client sends over HTTPS otherwise, which a server on the developer's machine seldom has.
            let isLocal = !isEncrypted && OriginPattern.loopback.matches("http://" + host)
            let segment =
                #""apiKey":\#(key),"unbundledIntegrations":[],"addBundledMetadata":true,"#
                + #""apiHost":\#(Self.json(host + "/v1"))"# + (isLocal ? #","protocol":"http""# : "")
            return Array(
                #"{"integrations":{"Segment.io":{\#(segment)}},"plan":{},"edgeFunction":{},"enabledMiddleware":{}}"#
                    .utf8
            )
        case .rudderStack:
            let config = #"{"statsCollection":{"errors":{"enabled":false},"metrics":{"enabled":false}}}"#
            let source = #""id":"sluice","name":"Sluice","workspaceId":"sluice","enabled":true,"writeKey":\#(key)"#
            return Array(#"{"source":{\#(source),"config":\#(config),"destinations":[]},"isHosted":false}"#.utf8)
        }
    }

    private static func json(_ text: String) -> String { String(decoding: JSONString.canonical(text), as: UTF8.self) }
}
