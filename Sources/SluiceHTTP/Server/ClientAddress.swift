package import NIOCore

/// The address that the requests of a connection come from, as events record it.
package struct ClientAddress {
    /// The address of the connection's other end, or the one that a PROXY header states; `nil` for a Unix domain socket.
    package let peer: SocketAddress?
    /// The proxies whose `X-Forwarded-For` counts.
    package let proxies: [NetworkRange]

    package init(peer: SocketAddress?, proxies: [NetworkRange]) {
        self.peer = peer
        self.proxies = proxies
    }

    /// The address in the notation of RFC 5952 or as four decimal numbers; empty if it is unknown.
    ///
    /// `forwardedFor` has the values of the fields `X-Forwarded-For`, in their order.
    package func text(forwardedFor: [String]) -> String {
        let text = address(forwardedFor: forwardedFor)?.ipAddress ?? ""
        let mapped = "::ffff:"
        return text.hasPrefix(mapped) && text.contains(".") ? String(text.dropFirst(mapped.count)) : text
    }

    /// The sender with whom a request shares the limits of its key, and the server's time until its key is known.
    ///
    /// `nil` if it is unknown.
    func sender(forwardedFor: [String]) -> NetworkRange.Address? {
        address(forwardedFor: forwardedFor).flatMap { NetworkRange.Address($0)?.sender }
    }

    /// The address; `nil` if it is unknown.
    ///
    /// Each proxy appends the address from which it got the request, so the fields are read backwards, as long as a proxy of ours
    /// wrote them: what precedes the first foreign address could be anything.
    private func address(forwardedFor: [String]) -> SocketAddress? {
        guard var address = peer else { return nil }
        for entry in forwardedFor.flatMap({ $0.split(separator: ",") }).reversed() {
            guard proxies.contains(where: { $0.contains(address) }) else { break }
            guard let previous = Self.address(entry) else { return nil }
            address = previous
        }
        return address
    }

    /// An entry such as `192.0.2.1`, `2001:db8::1`, `192.0.2.1:8080` or `[2001:db8::1]:8080`.
    private static func address(_ entry: Substring) -> SocketAddress? {
        var text = entry.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        if text.first == "[" {
            text = text.dropFirst().prefix { $0 != "]" }
        } else if text.filter({ $0 == ":" }).count == 1 {
            text = text.prefix { $0 != ":" }
        }
        return try? SocketAddress(ipAddress: String(text), port: 0)
    }
}
