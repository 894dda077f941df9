import NIOCore

/// The other end of a connection.
package struct Peer {
    let address: ClientAddress
    /// Whether the connection speaks TLS.
    let isEncrypted: Bool
    /// The key that the connection counts for.
    let key: ConnectionKey
    /// The sender, if no proxy states another one.
    private let sender: NetworkRange.Address?

    package init(_ address: ClientAddress, isEncrypted: Bool, key: ConnectionKey) {
        self.address = address
        self.isEncrypted = isEncrypted
        self.key = key
        sender = address.sender(forwardedFor: [])
    }

    /// The address whose limits apply to a request; `nil` if it is unknown.
    func sender(of head: RequestHead) -> NetworkRange.Address? {
        address.proxies.isEmpty ? sender : address.sender(forwardedFor: head.forwardedFor)
    }
}
