import EventModel
import NIOCore
import NIOSSL
import TrackerKit

/// What this client needs for TLS, read from the files of the configuration.
enum ReceiverTLS {
    /// Reads the files, which blocks.
    ///
    /// - Throws: `notPrepared` if a file is missing or has no certificate or key, or if the system has no certificates of
    ///   authorities; `misconfigured` if the certificate and the key do not fit together.
    static func context(_ configuration: SocketConfiguration) throws(TrackerError) -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        // With TLS 1.3, a server checks the client's certificate after this side has finished its handshake. Events sent in between
        // would be acknowledged by the kernel of a server that then refuses the connection, and be lost, each time. With TLS 1.2, the
        // handshake ends only once both sides have accepted it.
        tls.minimumTLSVersion = .tlsv12
        tls.maximumTLSVersion = .tlsv12
        tls.cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
        // How long a receiver may take to confirm the end of a connection.
        tls.shutdownTimeout = .milliseconds(200)
        if let file = configuration.caFile {
            tls.trustRoots = .certificates(try certificates(in: file))
        }
        if let file = configuration.certificateFile, let keyFile = configuration.keyFile {
            tls.certificateChain = try certificates(in: file).map { .certificate($0) }
            tls.privateKey = .privateKey(try key(in: keyFile))
        }
        do {
            return try NIOSSLContext(configuration: tls)
        } catch {
            // BoringSSL's error shows places in its source only.
            guard configuration.certificateFile != nil else {
                throw SocketErrors.notPrepared(
                    "The system's certificates of authorities cannot be loaded; install them, or set caFile."
                )
            }
            throw SocketErrors.misconfigured(
                "The certificate of certificateFile and the key of keyFile do not fit together."
            )
        }
    }

    private static func certificates(in file: String) throws(TrackerError) -> [NIOSSLCertificate] {
        let bytes = try contents(of: file)
        let certificates = (try? NIOSSLCertificate.fromPEMBytes(bytes)) ?? []
        if certificates.isEmpty { throw SocketErrors.notPrepared("The file '\(file)' has no certificate in PEM.") }
        return certificates
    }

    private static func key(in file: String) throws(TrackerError) -> NIOSSLPrivateKey {
        let bytes = try contents(of: file)
        guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
            throw SocketErrors.notPrepared("The file '\(file)' has no private key in PEM without a passphrase.")
        }
        return key
    }

    private static func contents(of file: String) throws(TrackerError) -> [UInt8] {
        do throws(RegularFile.Failure) {
            return try RegularFile.contents(given: file)
        } catch {
            throw SocketErrors.notPrepared("The file '\(file)' cannot be read: \(error).")
        }
    }
}
