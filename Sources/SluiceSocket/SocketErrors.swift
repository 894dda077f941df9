import NIOCore
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
enum SocketErrors {
    static func invalidSettings(_ problem: SocketConfiguration.Problem) -> TrackerError {
        let sentence = "The setting \(problem.part.rawValue) is invalid: \(problem.sentence)."
        return TrackerError(code: .invalidSettings, message: sentence, isRetryable: false)
    }

    /// A file is missing, or has not what it should have.
    static func notPrepared(_ sentence: String) -> TrackerError {
        TrackerError(code: .notPrepared, message: sentence, isRetryable: false)
    }

    /// The two sides do not agree upon TLS, which an operator has to fix.
    static func misconfigured(_ sentence: String) -> TrackerError {
        TrackerError(code: .misconfigured, message: sentence, isRetryable: false)
    }

    static func unavailable(_ sentence: String) -> TrackerError {
        TrackerError(code: .unavailable, message: sentence, isRetryable: true)
    }

    static func timeout(_ sentence: String) -> TrackerError {
        TrackerError(code: .timeout, message: sentence, isRetryable: true)
    }

    static let connectTimeout = timeout("The receiver did not accept a connection in time.")
    static let acknowledgementTimeout = timeout("The receiver did not acknowledge the events in time.")
    /// The receiver closed the connection, so nobody will acknowledge what it has not acknowledged yet.
    static let closed = unavailable("The receiver closed the connection before it had acknowledged all events.")
    static let closedDuringHandshake = unavailable("The receiver closed the connection during the TLS handshake.")
    static let untrusted = misconfigured(
        "The receiver's certificate is not trusted: it is not signed by an authority of caFile, or of the system without a "
            + "caFile, or it is not valid now."
    )
    static let otherName = misconfigured("The receiver's certificate is for another name than the host of url.")

    // MARK: Errors of NIO

    /// An error while the connection is opened.
    static func opening(_ error: any Error) -> TrackerError {
        switch error {
        case let error as TrackerError: error
        case let error as NIOConnectionError: connecting(error)
        case let error as NIOSSLError: handshake(error)
        case let error as NIOSSLExtraError where error == .failedToValidateHostname: otherName
        case ChannelError.connectTimeout: connectTimeout
        case let error as IOError: unavailable("The receiver cannot be reached: \(text(of: error.errnoCode)).")
        default: closedDuringHandshake
        }
    }

    /// An error of a connection that was open.
    ///
    /// Whether a receiver that ends closes or resets a connection depends on chance.
    static func sending(_ error: any Error) -> TrackerError {
        guard let number = (error as? IOError)?.errnoCode, ![EPIPE, ECONNRESET].contains(number) else { return closed }
        if number == ETIMEDOUT { return acknowledgementTimeout }
        return unavailable("The connection to the receiver broke: \(text(of: number)).")
    }

    /// Whether a connection ended without the receiver having closed it in an orderly way.
    ///
    /// EPIPE is what a write gets after the receiver closed its side.
    static func isBreak(_ error: IOError) -> Bool { error.errnoCode != EPIPE }

    /// No address of the receiver accepts a connection.
    private static func connecting(_ error: NIOConnectionError) -> TrackerError {
        let errors = error.connectionErrors.map(\.error)
        // Addresses are tried in an order that varies, and one sentence has to stand for all of them.
        if let number = errors.compactMap({ ($0 as? IOError)?.errnoCode }).min() {
            return unavailable("The receiver cannot be reached: \(text(of: number)).")
        }
        if errors.isEmpty { return unavailable("The receiver's name cannot be resolved.") }
        let isTimeout = errors.contains { if case ChannelError.connectTimeout = $0 { true } else { false } }
        return isTimeout ? connectTimeout : unavailable("The receiver cannot be reached.")
    }

    private static func handshake(_ error: NIOSSLError) -> TrackerError {
        guard case .handshakeFailed(let failure) = error, case .sslError(let stack) = failure else {
            return closedDuringHandshake
        }
        if stack.contains(.eofDuringHandshake) { return closedDuringHandshake }
        let reasons = stack.compactMap(reason)
        if reasons.contains("CERTIFICATE_VERIFY_FAILED") { return untrusted }
        guard let reason = reasons.first else { return misconfigured("The TLS handshake with the receiver failed.") }
        return misconfigured("The TLS handshake with the receiver failed: \(reason).")
    }

    /// BoringSSL's name of an error, such as `WRONG_VERSION_NUMBER`; what is around it depends on BoringSSL's version.
    private static func reason(of error: BoringSSLInternalError) -> String? {
        error.description.firstMatch(of: /OPENSSL_internal:([A-Z0-9_]+)/).map { String($0.1) }
    }

    private static func text(of number: Int32) -> String { String(cString: strerror(number)) }
}
