import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What can go wrong with a program; each cause always has the same sentence, by which the pipeline recognizes it.
enum ExecErrors {
    static func invalidSettings(_ sentence: String) -> TrackerError {
        TrackerError(code: .invalidSettings, message: sentence, isRetryable: false)
    }

    /// The program or its directory is missing, or may not be used.
    static func notPrepared(_ sentence: String) -> TrackerError {
        TrackerError(code: .notPrepared, message: sentence, isRetryable: false)
    }

    /// The system refused a call; only some errors pass without anybody changing anything.
    static func cannotStart(_ program: String, _ number: Int32) -> TrackerError {
        let sentence = "The program '\(program)' cannot be started: \(text(of: number))."
        let passes = [EAGAIN, ENOMEM, EMFILE, ENFILE, ETXTBSY].contains(number)
        return passes ? unavailable(sentence) : notPrepared(sentence)
    }

    static func unavailable(_ sentence: String) -> TrackerError {
        TrackerError(code: .unavailable, message: sentence, isRetryable: true)
    }

    static let timeout = TrackerError(
        code: .timeout,
        message: "The program did not answer in time, so Sluice terminated it.",
        isRetryable: true
    )

    /// The program ended, which the log describes.
    static let ended = failed("The program ended before it had answered.")

    /// An answer that does not follow the protocol.
    static func badAnswer(_ reason: String) -> TrackerError {
        failed("The program's answer cannot be used, so Sluice terminated it: \(reason).")
    }

    /// A run of a Singer target that did not end with 0.
    static func endedBadly(_ end: String) -> TrackerError {
        failed("The program ended with \(end) instead of confirming the delivery.")
    }

    /// A run of a Singer target that ended with 0, but did not print the state.
    static let notConfirmed = failed(
        "The program ended, but the last line of its output was not the state of the delivery, which a Singer target prints."
    )

    /// A Singer target that writes without an end.
    static let tooMuchOutput = failed("The program wrote too much to standard output, so Sluice terminated it.")

    /// A failure that may be the fault of an event; if others are delivered meanwhile, the event is parked.
    static func failed(_ sentence: String) -> TrackerError {
        TrackerError(code: .failed, message: sentence, isRetryable: true)
    }

    static func text(of number: Int32) -> String { String(cString: strerror(number)) }
}
