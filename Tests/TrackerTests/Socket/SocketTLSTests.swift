import Foundation
import ServerTestSupport
import SluiceSocket
import SluiceTesting
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("A receiver of lines over TLS", .timeLimit(.minutes(5)))
struct SocketTLSTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    /// The reason why a delivery is to be retried.
    private func reason(
        _ url: String,
        _ change: (inout SocketConfiguration) -> Void
    ) async -> TrackerError? {
        let tracker = SocketTracker.testing(url, change)
        let reason = await tracker.deliver(SocketEvents.delivery(0..<1)).retry?.reason
        await tracker.stop()
        return reason
    }

    @Test("gets the lines, in deliveries of any size")
    func deliveries() async throws {
        let certificate = try await TestCertificate("receiver", in: folder)
        let receiver = try await TLSReceiver(certificate)
        let tracker = SocketTracker.testing(receiver.url) { $0.caFile = certificate.certificate }
        try await tracker.start(for: SocketEvents.catalog)
        for delivery in [SocketEvents.delivery(0..<3), SocketEvents.delivery(3..<20_000)] {
            #expect(await tracker.deliver(delivery).retry == nil)
        }
        await tracker.stop()
        #expect(await receiver.lines(20_000) == SocketEvents.delivery(0..<20_000).map(\.json))
    }

    @Test("whose certificate is not trusted, or is for another name, gets nothing")
    func untrusted() async throws {
        let certificate = try await TestCertificate("receiver", in: folder)
        let other = try await TestCertificate("other", in: folder)
        let receiver = try await TLSReceiver(certificate)
        let untrusted = """
            The receiver's certificate is not trusted: it is not signed by an authority of caFile, or of the system without a \
            caFile, or it is not valid now. [misconfigured]
            """
        #expect(await reason(receiver.url) { $0.caFile = other.certificate }?.description == untrusted)
        #expect(await reason(receiver.url) { _ in }?.description == untrusted)
        let misnamed = try await TestCertificate("misnamed", for: "DNS:other.example", in: folder)
        let stranger = try await TLSReceiver(misnamed)
        let byName = await reason("tls://localhost:\(stranger.port)") { $0.caFile = misnamed.certificate }
        #expect(
            byName?.description
                == "The receiver's certificate is for another name than the host of url. [misconfigured]"
        )
        #expect(byName?.isRetryable == false)
    }

    @Test("that asks for a certificate gets nothing from a client without the right one", .promise("socket-receiver"))
    func clientCertificate() async throws {
        let certificate = try await TestCertificate("receiver", in: folder)
        let client = try await TestCertificate("client", in: folder)
        let other = try await TestCertificate("other", in: folder)
        let receiver = try await TLSReceiver(certificate, clients: client)
        for (file, key) in [(nil, nil), (other.certificate, other.privateKey)] {
            let reason = await reason(receiver.url) { configuration in
                configuration.caFile = certificate.certificate
                configuration.certificateFile = file
                configuration.keyFile = key
            }
            #expect(reason?.code == .misconfigured)
            #expect(reason?.message.hasPrefix("The TLS handshake with the receiver failed: ") == true)
        }
        let reason = await reason(receiver.url) { configuration in
            configuration.caFile = certificate.certificate
            configuration.certificateFile = client.certificate
            configuration.keyFile = client.privateKey
        }
        #expect(reason == nil)
        #expect(await receiver.lines(1) == SocketEvents.delivery(0..<1).map(\.json))
    }

    @Test("needs files that exist and fit together, which are read for each connection", .promise("replaced-secrets"))
    func files() async throws {
        let certificate = try await TestCertificate("receiver", in: folder)
        let client = try await TestCertificate("client", in: folder)
        let receiver = try await TLSReceiver(certificate)
        let path = folder.path("ca.pem")
        let tracker = SocketTracker.testing(receiver.url) { $0.caFile = path }
        let missing = await tracker.deliver(SocketEvents.delivery(0..<1)).retry?.reason
        #expect(missing?.description == "The file '\(path)' cannot be read: No such file or directory. [not-prepared]")
        try folder.write("nothing", to: "ca.pem")
        let empty = await tracker.deliver(SocketEvents.delivery(0..<1)).retry?.reason
        #expect(empty?.description == "The file '\(path)' has no certificate in PEM. [not-prepared]")
        try folder.write(try String(contentsOfFile: certificate.certificate, encoding: .utf8), to: "ca.pem")
        #expect(await tracker.deliver(SocketEvents.delivery(0..<1)).retry == nil)
        await tracker.stop()
        let unfit = await reason(receiver.url) { configuration in
            configuration.certificateFile = client.certificate
            configuration.keyFile = certificate.privateKey
        }
        #expect(
            unfit?.description
                == "The certificate of certificateFile and the key of keyFile do not fit together. [misconfigured]"
        )
        let field = folder.path("token")
        let unreadable = await reason(receiver.url) { configuration in
            configuration.caFile = certificate.certificate
            configuration.fieldFiles = ["token=\(field)"]
        }
        #expect(unreadable?.code == .notPrepared)
        try folder.write("secret\n", to: "token")
        let read = await reason(receiver.url) { configuration in
            configuration.caFile = certificate.certificate
            configuration.fieldFiles = ["token=\(field)"]
        }
        #expect(read == nil)
        #expect(await receiver.lines(2).last?.hasPrefix(#"{"token":"secret","id":"#) == true)
    }

    @Test("has to speak TLS")
    func plain() async throws {
        let talking = try LineReceiver(greeting: Array("220 mail.example\r\n".utf8))
        let reason = await reason("tls://127.0.0.1:\(talking.port)") { _ in }
        #expect(
            reason?.description == "The TLS handshake with the receiver failed: WRONG_VERSION_NUMBER. [misconfigured]"
        )
        let silent = try LineReceiver()
        let clock = ManualClock()
        let tracker = SocketTracker.testing("tls://127.0.0.1:\(silent.port)", clock: clock)
        async let outcome = tracker.deliver(SocketEvents.delivery(0..<1))
        await silent.waitForConnections(1)
        await clock.waitForSleeper(for: .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(
            await outcome.retry?.reason.description == "The receiver did not accept a connection in time. [timeout]"
        )
        let closing = try LineReceiver()
        closing.close(afterBytes: 1)
        let end = await self.reason("tls://127.0.0.1:\(closing.port)") { _ in }
        #expect(end?.code == .unavailable)
    }
}
