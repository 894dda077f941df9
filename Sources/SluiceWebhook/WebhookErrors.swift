import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What can go wrong with a receiver; each cause always has the same sentence, by which the pipeline recognizes it.
enum WebhookErrors {
    static func invalidSettings(_ sentence: String) -> TrackerError {
        TrackerError(code: .invalidSettings, message: sentence, isRetryable: false)
    }

    /// A file that the tracker needs is missing or unusable.
    static func notPrepared(_ sentence: String) -> TrackerError {
        TrackerError(code: .notPrepared, message: sentence, isRetryable: false)
    }

    /// The receiver denies access, or somebody has to correct the address or the receiver.
    static func misconfigured(_ sentence: String) -> TrackerError {
        TrackerError(code: .misconfigured, message: sentence, isRetryable: false)
    }

    static func unavailable(_ sentence: String) -> TrackerError {
        TrackerError(code: .unavailable, message: sentence, isRetryable: true)
    }

    /// A failure that may be the fault of an event; if others are delivered meanwhile, the event is parked.
    static func failed(_ sentence: String) -> TrackerError {
        TrackerError(code: .failed, message: sentence, isRetryable: true)
    }

    /// A delivery that needs many requests took too long.
    static let slow = TrackerError(
        code: .timeout,
        message: "The requests of one delivery took more than a minute, so the rest of its events is sent later.",
        isRetryable: true
    )

    private static let refused = unavailable("The receiver refuses connections.")

    static let timeout = TrackerError(
        code: .timeout,
        message: "The receiver did not answer in time.",
        isRetryable: true
    )

    /// An error of the client, or of the libraries beneath it, for a request that has no answer.
    static func noAnswer(_ error: any Error) -> TrackerError {
        switch error {
        case is CancellationError: .cancelled
        case let error as TrackerError: error
        case let error as HTTPClientError: noAnswer(error)
        case let error as NIOSSLError: tls(error)
        case let error as BoringSSLError: handshake(error)
        case is HTTPParserError: misconfigured("The receiver's answer is not valid HTTP; correct the address.")
        case is NIOSSLExtraError:
            misconfigured("The receiver's certificate is not that of its host.")
        case let error as NIOConnectionError:
            error.dnsAError != nil && error.dnsAAAAError != nil
                ? unavailable("The name of the receiver's host cannot be resolved.")
                : refused
        // The client does not wrap the error of a single address.
        case let error as IOError where error.errnoCode == ECONNREFUSED: refused
        default: unavailable("The connection to the receiver was lost.")
        }
    }

    private static func noAnswer(_ error: HTTPClientError) -> TrackerError {
        switch error {
        case .cancelled: .cancelled
        case .deadlineExceeded, .readTimeout, .writeTimeout: timeout
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            unavailable("The connection to the receiver took too long.")
        case .remoteConnectionClosed, .httpProxyHandshakeTimeout:
            unavailable("The receiver closed the connection before it had answered.")
        case .alreadyShutdown: .cancelled
        default: misconfigured("The address cannot be used for a request, or the receiver's answer is not valid HTTP.")
        }
    }

    private static func handshake(_ error: BoringSSLError) -> TrackerError {
        if case .sslError(let errors) = error, errors.contains(.eofDuringHandshake) {
            // It may be about to stop.
            return unavailable("The receiver closed the connection during the TLS handshake.")
        }
        return misconfigured("The TLS handshake with the receiver failed; correct the address or the certificates.")
    }

    private static func tls(_ error: NIOSSLError) -> TrackerError {
        switch error {
        case .handshakeFailed(let error): handshake(error)
        default: unavailable("The TLS connection to the receiver was lost.")
        }
    }
}
