import EventModel
import NIOCore
import NIOSSL
import TrackerKit

/// The files with certificates that the settings name, as they were read.
struct CertificateFiles: Sendable, Equatable {
    private let authorities: [UInt8]?
    private let certificate: [UInt8]?
    private let privateKey: [UInt8]?

    /// Reads the files; this blocks.
    ///
    /// - Throws: `notPrepared` if one cannot be read.
    init(_ receiver: HTTPReceiver) throws(TrackerError) {
        authorities = try Self.contents(of: receiver.caFile)
        certificate = try Self.contents(of: receiver.certificateFile)
        privateKey = try Self.contents(of: receiver.keyFile)
    }

    /// What a client needs for TLS.
    ///
    /// - Throws: `notPrepared` if a file has something else, or the certificate and the key do not belong together.
    func tls(of receiver: HTTPReceiver) throws(TrackerError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        // How long a vanished receiver is waited for when a connection is closed.
        tls.shutdownTimeout = .seconds(1)
        if let authorities {
            tls.trustRoots = .certificates(try Self.certificates(authorities, of: receiver.caFile))
        }
        if let certificate {
            let chain = try Self.certificates(certificate, of: receiver.certificateFile)
            tls.certificateChain = chain.map { .certificate($0) }
        }
        if let privateKey {
            guard let key = try? NIOSSLPrivateKey(bytes: privateKey, format: .pem) else {
                throw Self.unusable(receiver.keyFile, "a private key")
            }
            tls.privateKey = .privateKey(key)
        }
        do {
            // A key that is not the certificate's is found here, and not at each connection.
            _ = try NIOSSLContext(configuration: tls)
        } catch {
            throw WebhookErrors.notPrepared(
                receiver.certificateFile == nil
                    ? "The system has no certificates of authorities; set caFile."
                    : "The certificate and the key of the client do not belong together."
            )
        }
        return tls
    }

    private static func contents(of file: String?) throws(TrackerError) -> [UInt8]? {
        guard let file else { return nil }
        do throws(RegularFile.Failure) {
            return try RegularFile.contents(given: file)
        } catch {
            throw WebhookErrors.notPrepared("The file '\(file)' cannot be read: \(error).")
        }
    }

    private static func certificates(
        _ bytes: [UInt8],
        of file: String?
    ) throws(TrackerError) -> [NIOSSLCertificate] {
        if let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty { return certificates }
        throw unusable(file, "certificates")
    }

    private static func unusable(_ file: String?, _ content: String) -> TrackerError {
        WebhookErrors.notPrepared("The file '\(file ?? "")' does not contain \(content) in PEM.")
    }
}

extension HTTPReceiver {
    /// Whether a setting names a file with certificates or their key.
    var hasCertificates: Bool { caFile != nil || certificateFile != nil || keyFile != nil }
}
