import NIOCore
import SluiceHTTP
import Testing

/// The address that events record, behind proxies and without.
@Suite("The sender's address")
struct ClientAddressTests {
    @Test(
        "X-Forwarded-For counts only as far as a configured proxy wrote it",
        arguments: [
            ("192.0.2.1", [], "192.0.2.1"),
            // Not a proxy of ours.
            ("192.0.2.1", ["198.51.100.7"], "192.0.2.1"),
            ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", ["198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            ("10.0.0.1", ["198.51.100.7", " 10.0.0.2 "], "198.51.100.7"),
            // The sender invented the first entry.
            ("10.0.0.1", ["203.0.113.9, 198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", [], "10.0.0.1"), ("10.0.0.1", ["10.0.0.3"], "10.0.0.3"),
            // What a proxy states is not an address.
            ("10.0.0.1", ["unknown"], ""), ("10.0.0.1", ["198.51.100.7, x"], ""), ("10.0.0.1", [","], "10.0.0.1"),
            ("10.0.0.1", ["198.51.100.7:443"], "198.51.100.7"), ("10.0.0.1", ["[2001:db8::7]:443"], "2001:db8::7"),
            ("10.0.0.1", ["2001:db8::7"], "2001:db8::7"), ("::ffff:10.0.0.1", ["::ffff:192.0.2.1"], "192.0.2.1"),
        ]
    )
    func forwarded(peer: String, fields: [String], expected: String) throws {
        let address = ClientAddress(
            peer: try SocketAddress(ipAddress: peer, port: 1),
            proxies: try [#require(NetworkRange("10.0.0.0/8"))]
        )
        #expect(address.text(forwardedFor: fields) == expected)
    }

    @Test("a connection without an address has none")
    func none() {
        #expect(ClientAddress(peer: nil, proxies: []).text(forwardedFor: ["192.0.2.1"]) == "")
    }
}
