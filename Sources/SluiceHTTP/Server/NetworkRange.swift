package import NIOCore

/// A range of IP addresses, such as `10.0.0.0/8` or `fd00::/8`; a single address is a range, too.
///
/// An IPv4 address and the IPv6 address that maps it (`::ffff:10.0.0.1`) are the same address.
public struct NetworkRange: Sendable, Hashable, LosslessStringConvertible {
    /// The range in the notation of RFC 4632.
    public let description: String
    private let first: Address
    private let prefixLength: Int

    /// Reads a range; `nil` if the text is none.
    ///
    /// The bits of the address after the prefix must be zero.
    public init?(_ description: String) {
        let parts = description.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = try? SocketAddress(ipAddress: String(parts[0]), port: 0), let first = Address(address)
        else { return nil }
        var prefixLength = 128
        if parts.count == 2 {
            let isIPv4 = address.protocol == .inet
            let lengths = 0...(isIPv4 ? 32 : 128)
            guard let stated = Int(parts[1]), parts[1].allSatisfy(\.isNumber), lengths.contains(stated) else {
                return nil
            }
            prefixLength = isIPv4 ? stated + 96 : stated
        }
        guard first.prefix(prefixLength) == first else { return nil }
        self.description = description
        self.first = first
        self.prefixLength = prefixLength
    }

    /// Whether the address is in the range; false for a Unix domain socket.
    package func contains(_ address: SocketAddress) -> Bool {
        Address(address).map { $0.prefix(prefixLength) == first } ?? false
    }

    /// An IPv6 address, or an IPv4 address mapped to one.
    package struct Address: Hashable, Sendable {
        private var value: UInt128

        /// `nil` for a Unix domain socket.
        package init?(_ address: SocketAddress) {
            switch address {
            case .v4(let address):
                // `sin_addr`, which on Linux belongs to a module that only SwiftNIO can import.
                let bits = withUnsafeBytes(of: address.address) {
                    $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
                }
                value = 0xFFFF << 32 | UInt128(UInt32(bigEndian: bits))
            case .v6(let address):
                // `sin6_addr`
                let bits = withUnsafeBytes(of: address.address) {
                    $0.loadUnaligned(fromByteOffset: 8, as: UInt128.self)
                }
                value = UInt128(bigEndian: bits)
            case .unixDomainSocket:
                return nil
            }
        }

        /// The address with zeros after the first `length` bits.
        func prefix(_ length: Int) -> Address {
            var result = self
            result.value &= ~(UInt128.max >> length)
            return result
        }

        /// What one sender has: an IPv4 address, or the 64 bits that name a link in IPv6.
        package var sender: Address { value >> 32 == 0xFFFF ? self : prefix(64) }
    }
}
