import TrackerKit

extension HTTPReceiver {
    /// Checks what a person may have written wrongly.
    ///
    /// - Throws: `invalidSettings`.
    func check() throws(TrackerError) {
        let problems =
            [Self.problem(ofURL: url)].compactMap(\.self) + headers.compactMap(HeaderEntry.problem(ofField:))
            + headerFiles.compactMap(HeaderEntry.problem(ofFile:))
        if let problem = problems.first { throw WebhookErrors.invalidSettings("Invalid settings: \(problem).") }
        if (certificateFile == nil) != (keyFile == nil) {
            throw WebhookErrors.invalidSettings("A client certificate needs both a certificate and a key.")
        }
    }

    /// What is wrong with an address, without its secrets; `nil` if nothing is.
    package static func problem(ofURL url: String) -> String? {
        let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["http", "https"].contains(parts[0].lowercased()) else {
            return "expected an address that begins with http:// or https://"
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return "the address has characters that a URL cannot have; percent-encode them"
        }
        let authority = parts[1].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.contains("@") { return "the address contains a password; use basicAuthFile" }
        if url.contains("#") { return "the address has a fragment, which is never sent" }
        guard let host = host(of: authority), !host.isEmpty else {
            return "the address has no host, or an invalid port"
        }
        return nil
    }

    /// An address without the values of its query, which may be secret.
    package static func redacted(url: String) -> String {
        guard let query = url.firstIndex(of: "?") else { return url }
        let parameters = url[url.index(after: query)...].split(separator: "&").map { parameter in
            parameter.contains("=") ? "\(parameter.prefix { $0 != "=" })=***" : "***"
        }
        return "\(url[...query])\(parameters.joined(separator: "&"))"
    }

    /// The host of `host:port` or `[address]:port`; `nil` if the port is none.
    private static func host(of authority: Substring) -> Substring? {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : authority.startIndex
        guard let end else { return nil }
        guard let colon = authority[end...].lastIndex(of: ":") else { return authority }
        guard let port = UInt16(authority[authority.index(after: colon)...]), port > 0 else { return nil }
        return authority[..<colon]
    }
}
