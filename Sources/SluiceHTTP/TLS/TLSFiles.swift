import EventModel
import EventPipeline
public import Logging
import NIOSSL
public import ServiceLifecycle
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The certificate of a server, which is read from files again when they change.
///
/// The server speaks TLS 1.2 and 1.3, and HTTP/2 or HTTP/1.1, whichever the client prefers (ALPN). Connections that are open keep
/// the certificate that they began with.
///
/// Run it in a `ServiceGroup` beside the server. It looks at the files once a second. If they cannot be used, for example because
/// only one of them is replaced yet, the server keeps using the previous certificate, and the reason is logged.
public final class TLSFiles: Service {
    /// The paths of the files, each in PEM.
    public struct Paths: Sendable, Hashable {
        /// The certificate of the server, followed by those of the intermediate certificate authorities (CA).
        public var certificate: String
        /// The private key of the certificate, without a passphrase.
        public var privateKey: String
        /// The certificates of the authorities (CA) that sign the certificates of clients; `nil` if clients need no certificate.
        public var clientAuthorities: String?

        /// Makes paths; without `clientAuthorities` clients need no certificate.
        public init(certificate: String, privateKey: String, clientAuthorities: String? = nil) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.clientAuthorities = clientAuthorities
        }
    }

    /// A file that cannot be used.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        /// What is wrong, and in which file, if that is known.
        public let description: String
    }

    private typealias Contents = [[UInt8]]

    private struct State {
        var context: NIOSSLContext
        /// What the files contained at the last look, whether it could be used or not.
        var contents: Contents
        /// Why `contents` cannot be used.
        var problem: Problem?
        /// The files cannot be used.
        var failures = FailureEpisode()
    }

    private let paths: Paths
    private let logger: Logger
    private let clock: RelativeClock
    private let state: Mutex<State>

    /// Reads the files; `clock` measures the time between two looks.
    ///
    /// - Throws: `Problem`.
    public init(_ paths: Paths, logger: Logger, clock: some Clock<Duration> = ContinuousClock()) throws(Problem) {
        self.paths = paths
        self.logger = logger
        self.clock = RelativeClock(clock)
        let contents = try Self.contents(of: paths)
        state = Mutex(State(context: try Self.context(of: contents), contents: contents))
    }

    /// Looks at the files until a graceful shutdown or cancellation.
    public func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await self.clock.sleepUntil(self.clock.now() + .seconds(1))) != nil { self.look() }
        }
    }

    /// The settings for new connections.
    var context: NIOSSLContext { state.withLock { $0.context } }

    /// Takes over a change of the files, if there is one.
    package func look() {
        do throws(Problem) {
            if try takeChange() {
                let failures = state.withLock { $0.failures.ended(now: clock.now()) }
                logger.info("The certificate of the server has changed.", metadata: metadata(failures))
            } else if let failures = state.withLock({ $0.failures.ended(now: clock.now()) }) {
                logger.info("The certificate of the server can be used again.", metadata: metadata(failures))
            }
        } catch {
            let failures = state.withLock { $0.failures.failed(because: error.description, now: clock.now()) }
            guard let failures else { return }
            logger.error(
                "The certificate of the server cannot be used; new connections get the previous one.",
                metadata: metadata(failures).merging(["error": "\(error)"]) { $1 }
            )
        }
    }

    /// Takes over a change of the files; returns whether there was one.
    ///
    /// - Throws: What is wrong with the files, also if they have not changed since the last look.
    private func takeChange() throws(Problem) -> Bool {
        let contents = try Self.contents(of: paths)
        let (isNew, problem) = state.withLock { state in
            defer { state.contents = contents }
            return (contents != state.contents, state.problem)
        }
        guard isNew else {
            if let problem { throw problem }
            return false
        }
        do throws(Problem) {
            let context = try Self.context(of: contents)
            state.withLock { state in
                state.context = context
                state.problem = nil
            }
        } catch {
            state.withLock { $0.problem = error }
            throw error
        }
        return true
    }

    private func metadata(_ failures: FailureEpisode.Summary?) -> Logger.Metadata {
        ["file": "\(paths.certificate)"].merging(failures?.metadata ?? [:]) { $1 }
    }

    private static func contents(of paths: Paths) throws(Problem) -> Contents {
        var contents: Contents = []
        for path in [paths.certificate, paths.privateKey, paths.clientAuthorities] {
            guard let path else { continue }
            do throws(RegularFile.Failure) {
                contents.append(try RegularFile.contents(given: path))
            } catch {
                throw Problem(description: "'\(path)' cannot be read: \(error).")
            }
        }
        return contents
    }

    private static func context(of contents: Contents) throws(Problem) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(contents[0])
            guard !chain.isEmpty else {
                throw Problem(description: "The file of http.tls.certificate contains no certificate.")
            }
            let key = try NIOSSLPrivateKey(bytes: contents[1], format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(key)
            )
            configuration.minimumTLSVersion = .tlsv12
            // For TLS 1.2, which also has others: forward secrecy and authenticated encryption. HTTP/2 requires both (RFC 9113,
            // section 9.2.2).
            configuration.cipherSuites = "ECDHE+AESGCM:ECDHE+CHACHA20"
            configuration.applicationProtocols = ["h2", "http/1.1"]
            if contents.count > 2 {
                let authorities = try NIOSSLCertificate.fromPEMBytes(contents[2])
                guard !authorities.isEmpty else {
                    throw Problem(description: "The file of http.tls.clientAuthorities contains no certificate.")
                }
                configuration.trustRoots = .certificates(authorities)
                configuration.certificateVerification = .noHostnameVerification
            }
            return try NIOSSLContext(configuration: configuration)
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(description: "The certificate and its key cannot be used: \(error)")
        }
    }
}
