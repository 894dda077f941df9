import NIOCore
import NIOPosix
import NIOSSL
import ServerTestSupport
import SluiceTesting

/// A receiver of lines over TLS on the loopback interface.
final class TLSReceiver: Sendable {
    private let channel: any Channel
    private let received = Watched("")

    /// Listens on a free port; with `clients`, a client has to show that certificate.
    init(_ certificate: TestCertificate, clients: TestCertificate? = nil) async throws {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificate.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: certificate.privateKey, format: .pem))
        )
        if let clients {
            tls.trustRoots = .file(clients.certificate)
            tls.certificateVerification = .noHostnameVerification
        }
        let context = try NIOSSLContext(configuration: tls)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [received] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context),
                        Collector(received: received)
                    )
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    deinit {
        channel.close(promise: nil)
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var url: String { "tls://127.0.0.1:\(port)" }

    /// Waits until so many lines have arrived, and returns them.
    func lines(_ count: Int) async -> [String] {
        await received.wait { $0.utf8.count { $0 == UInt8(ascii: "\n") } >= count }
        return received.value.split(separator: "\n").map(String.init)
    }

    private final class Collector: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let received: Watched<String>

        init(received: Watched<String>) {
            self.received = received
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            received.update { $0 += text }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
