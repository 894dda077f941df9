/// One or more web origins (RFC 6454), as an operator writes them.
package struct OriginPattern: Sendable, Hashable {
    private enum Kind: Hashable {
        /// `*`.
        case any
        /// An origin as browsers send it, such as `https://shop.example:8443`.
        case one(String)
        /// The subdomains of a host: what comes before and after the `*`.
        case subdomains(prefix: String, suffix: String)
        /// Web pages of this machine, with any port.
        case loopback
    }

    private let kind: Kind

    /// Every origin.
    static let any = OriginPattern(kind: .any)
    /// The web pages of this machine.
    package static let loopback = OriginPattern(kind: .loopback)

    private init(kind: Kind) {
        self.kind = kind
    }

    /// Reads `*`, `https://shop.example`, or `https://*.shop.example`; `nil` for anything else.
    package init?(_ text: String) {
        if text == "*" {
            kind = .any
            return
        }
        let text = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { text.hasPrefix($0) }) else { return nil }
        let host = text.dropFirst(scheme.count)
        let isWildcard = host.hasPrefix("*.")
        let rest = isWildcard ? host.dropFirst(2) : host
        guard !rest.isEmpty, rest.utf8.allSatisfy(Self.isHostByte) else { return nil }
        kind = isWildcard ? .subdomains(prefix: scheme, suffix: "." + rest) : .one(text)
    }

    /// Whether an `Origin` is one of these.
    package func matches(_ origin: String) -> Bool {
        switch kind {
        case .any: return true
        case .one(let one): return origin.lowercased() == one
        case .subdomains(let prefix, let suffix):
            let origin = origin.lowercased()
            return origin.hasPrefix(prefix) && origin.hasSuffix(suffix) && origin.count > prefix.count + suffix.count
        case .loopback:
            guard let host = Self.host(of: origin.lowercased()) else { return false }
            return host == "localhost" || host == "127.0.0.1" || host == "[::1]" || host.hasSuffix(".localhost")
        }
    }

    private static func host(of origin: String) -> Substring? {
        guard let scheme = ["https://", "http://"].first(where: { origin.hasPrefix($0) }) else { return nil }
        let rest = origin.dropFirst(scheme.count)
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") { return rest[...end] }
        return rest.prefix { $0 != ":" }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
            UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}
