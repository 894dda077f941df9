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

    /// Reads `*`, `https://shop.example`, `https://*.shop.example`, or an origin of an app such as `capacitor://localhost`.
    ///
    /// - Returns: `nil` for anything else, and for what no browser sends, such as the default port.
    package init?(_ text: String) {
        if text == "*" {
            kind = .any
            return
        }
        let text = text.lowercased()
        guard let separator = text.firstRange(of: "://"), Self.isScheme(text[..<separator.lowerBound].utf8) else {
            return nil
        }
        let scheme = String(text[..<separator.upperBound])
        let host = text[separator.upperBound...]
        let isWildcard = host.hasPrefix("*.")
        let rest = isWildcard ? host.dropFirst(2) : host
        guard !rest.isEmpty, rest.utf8.allSatisfy(Self.isHostByte), !rest.hasSuffix(":"),
            !(scheme == "https://" && rest.hasSuffix(":443")), !(scheme == "http://" && rest.hasSuffix(":80"))
        else { return nil }
        kind = isWildcard ? .subdomains(prefix: scheme, suffix: "." + rest) : .one(text)
    }

    private static func isScheme(_ text: Substring.UTF8View) -> Bool {
        guard let first = text.first, first >= UInt8(ascii: "a"), first <= UInt8(ascii: "z") else { return false }
        return text.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
        }
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
