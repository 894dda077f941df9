package import HTTPTypes
import NIOCore
import SluiceHTTP

/// Where a request comes from, as far as its header says so.
package struct RequestSource {
    /// The value of `Host`.
    let host: String?
    /// The value of `Origin`: the web page that sends, if a browser says so.
    let origin: String?

    package init(_ request: HTTPRequest) {
        host = request.authority
        origin = request.headerFields[.origin]
    }

    /// Whether the request was sent to a name of this machine.
    ///
    /// A web page whose own name was made to point at this machine (DNS rebinding) sends its requests to that name.
    package var isSentToLoopback: Bool {
        guard let host else { return false }
        guard let name = Self.withoutPort(host) else { return false }
        if name.lowercased() == "localhost" { return true }
        return (try? SocketAddress(ipAddress: name, port: 0))?.isLoopback ?? false
    }

    /// Whether the request is from a page of another origin; a browser states the origin of a page that changes something.
    package var isForeign: Bool {
        guard let origin else { return false }
        guard let host else { return true }
        return origin.lowercased() != "http://" + host.lowercased()
            && origin.lowercased() != "https://" + host.lowercased()
    }

    /// The name of `name:port` or `[address]:port`; `nil` if it is neither.
    private static func withoutPort(_ host: String) -> String? {
        let (name, rest): (Substring, Substring)
        if host.first == "[" {
            guard let end = host.firstIndex(of: "]") else { return nil }
            (name, rest) = (host[..<end].dropFirst(), host[end...].dropFirst())
        } else {
            name = host.prefix { $0 != ":" }
            rest = host[name.endIndex...]
        }
        return rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil ? String(name) : nil
    }
}
