import NIOCore

/// Reads the header with which a proxy begins a connection: the PROXY protocol, version 2.
///
/// The handlers for the rest of the connection are added once the sender's address is known. Source:
/// https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt, section 2.2.
final class ProxyHeaderDecoder: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The first bytes of the header.
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
    /// The length of the part that every header has.
    private static let fixedBytes = 16
    /// The greatest length of the rest that is accepted; the addresses take at most 216 bytes.
    private static let maximumBytes = 4 << 10

    /// Adds the handlers for the connection of a sender.
    private let configure: (SocketAddress?, any Channel) throws -> Void
    private var received = ByteBuffer()

    /// - Parameter configure: Called once, with the sender's address; `nil` if the proxy states none.
    init(configure: @escaping (SocketAddress?, any Channel) throws -> Void) {
        self.configure = configure
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        let signature = received.readableBytesView.prefix(Self.signature.count)
        guard signature.elementsEqual(Self.signature.prefix(signature.count)) else {
            return context.close(promise: nil)
        }
        guard let length = received.getInteger(at: received.readerIndex + 14, as: UInt16.self) else { return }
        guard length <= Self.maximumBytes else { return context.close(promise: nil) }
        guard received.readableBytes >= Self.fixedBytes + Int(length) else { return }
        do {
            try configure(try readHeader(), context.channel)
        } catch {
            return context.close(promise: nil)
        }
        if received.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(received)) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private enum HeaderError: Error {
        case invalid
    }

    /// Removes the header from the received bytes, and returns the sender's address, if it has one.
    private func readHeader() throws -> SocketAddress? {
        guard var header = received.readSlice(length: Self.fixedBytes),
            let (version, family, length) = {
                header.moveReaderIndex(forwardBy: Self.signature.count)
                return header.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self)
            }(),
            var addresses = received.readSlice(length: Int(length))
        else { throw HeaderError.invalid }
        switch version {
        // The proxy itself connects, to see whether the server lives.
        case 0x20: return nil
        case 0x21: break
        default: throw HeaderError.invalid
        }
        let addressBytes = family >> 4 == 1 ? 4 : family >> 4 == 2 ? 16 : 0
        // The proxy does not know the address, or it is no IP address.
        guard addressBytes > 0 else { return nil }
        guard let source = addresses.readSlice(length: addressBytes), addresses.readSlice(length: addressBytes) != nil,
            let port = addresses.readInteger(as: UInt16.self)
        else { throw HeaderError.invalid }
        return try SocketAddress(packedIPAddress: source, port: Int(port))
    }
}
