import SettingDefinitions
import TrackerKit

extension HTTPReceiver {
    /// The numbers of requests that can be in progress at a time.
    static let concurrencyRange = 1...1000

    /// Checks the settings.
    ///
    /// - Throws: `invalidSettings`.
    func check(allowsQuery: Bool) throws(TrackerError) {
        if !Self.concurrencyRange.contains(concurrency) {
            throw WebhookErrors.invalidSettings("The number of concurrent requests is not between 1 and 1,000.")
        }
        let problems =
            [Self.problem(ofURL: url, allowsQuery: allowsQuery)].compactMap(\.self)
            + headers.compactMap(HeaderEntry.problem(ofField:))
            + headerFiles.compactMap(HeaderEntry.problem(ofFile:))
        if let problem = problems.first { throw WebhookErrors.invalidSettings("Invalid settings: \(problem).") }
        if (certificateFile == nil) != (keyFile == nil) {
            throw WebhookErrors.invalidSettings("A client certificate needs both a certificate and a key.")
        }
    }

    /// What is wrong with an address, without its secrets; `nil` if nothing is.
    package static func problem(ofURL url: String, allowsQuery: Bool = true) -> String? {
        let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["http", "https"].contains(parts[0].lowercased()) else {
            return "expected an address that begins with http:// or https://"
        }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return "the address has characters that a URL cannot have; percent-encode them"
        }
        let authority = parts[1].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.contains("@") { return "the address contains a password, which belongs in a file" }
        if url.contains("#") { return "the address has a fragment, which is never sent" }
        if !allowsQuery, url.contains("?") { return "the address has a query, which this receiver does not have" }
        guard let host = host(of: authority), !host.isEmpty else {
            return "the address has no host, or an invalid port"
        }
        return nil
    }

    /// An address as it may be printed: without its path and its query, which may contain a secret.
    package static func redacted(url: String) -> String {
        guard problem(ofURL: url) == nil, let scheme = url.firstRange(of: "://") else { return SettingKey.mask }
        let end = url[scheme.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
        return url[end...].count > 1 ? "\(url[..<end])/\(SettingKey.mask)" : url
    }

    /// The host of `host:port` or `[address]:port`; `nil` if the port is invalid.
    private static func host(of authority: Substring) -> Substring? {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : authority.startIndex
        guard let end else { return nil }
        if authority.hasPrefix("[") {
            let rest = authority[end...].dropFirst()
            guard rest.isEmpty || rest.hasPrefix(":"), authority.distance(from: authority.startIndex, to: end) > 1
            else { return nil }
        }
        guard let colon = authority[end...].lastIndex(of: ":") else { return authority }
        guard let port = UInt16(authority[authority.index(after: colon)...]), port > 0 else { return nil }
        return authority[..<colon]
    }
}
