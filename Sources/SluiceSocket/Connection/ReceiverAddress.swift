/// Where a receiver listens, and whether it speaks TLS.
package struct ReceiverAddress: Sendable, Hashable {
    /// The name or IP address, without the brackets of IPv6.
    package let host: String
    package let port: Int
    /// Whether the connection is encrypted with TLS.
    package let isSecured: Bool

    /// Reads `tcp://host:port` or `tls://host:port`; `nil` for anything else.
    ///
    /// There is no default for the port, because receivers of lines have none.
    package init?(_ url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        switch url[..<scheme.lowerBound].lowercased() {
        case "tcp": isSecured = false
        case "tls": isSecured = true
        default: return nil
        }
        var rest = url[scheme.upperBound...]
        if rest.last == "/" { rest.removeLast() }
        guard let colon = rest.lastIndex(of: ":") else { return nil }
        let digits = rest[rest.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(digits), (1...65_535).contains(port),
            let host = Self.host(rest[..<colon])
        else { return nil }
        self.host = host
        self.port = port
    }

    private static func host(_ text: Substring) -> String? {
        if text.first == "[", text.last == "]" {
            let address = text.dropFirst().dropLast()
            return address.contains(":") && isPlain(address) ? String(address) : nil
        }
        return !text.isEmpty && !text.contains(":") && isPlain(text) ? String(text) : nil
    }

    /// Whether it has only visible ASCII characters, and none that would make it something else than a host.
    private static func isPlain(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && !text.contains { "/?#@[]\\".contains($0) }
    }
}
