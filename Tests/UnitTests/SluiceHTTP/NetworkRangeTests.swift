import NIOCore
import SluiceHTTP
import Testing

@Suite("Network ranges")
struct NetworkRangeTests {
    @Test(
        "a range contains the addresses with its prefix, and no others",
        arguments: [
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["11.0.0.0", "9.255.255.255", "::1"]),
            ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2"]),
            ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
            ("0.0.0.0/0", ["1.2.3.4"], ["2001:db8::1"]),
            ("::/0", ["1.2.3.4", "2001:db8::1"], []),
            ("fd00::/8", ["fd12::1"], ["fe00::1", "10.0.0.1"]),
            ("2001:db8::/64", ["2001:db8::ffff:1:2:3"], ["2001:db8:0:1::"]),
            ("::1", ["::1"], ["::2", "0.0.0.1"]),
        ] as [(String, [String], [String])]
    )
    func contains(text: String, inside: [String], outside: [String]) throws {
        let range = try #require(NetworkRange(text))
        #expect(range.description == text)
        for address in inside + outside {
            let isInside = range.contains(try SocketAddress(ipAddress: address, port: 1))
            #expect(isInside == inside.contains(address), "\(address)")
        }
        #expect(!range.contains(try SocketAddress(unixDomainSocketPath: "/tmp/socket")))
    }

    @Test(
        "a text that is no range is refused",
        arguments: ["", "localhost", "10.0.0.0/33", "::/129", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/8/8"]
    )
    func refused(text: String) {
        #expect(NetworkRange(text) == nil)
    }
}
