import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The errors of the output; all are retryable, because none is caused by an event.
enum ConsoleErrorClass {
    static func error(for number: Int32) -> TrackerError {
        let reason = String(cString: strerror(number))
        return TrackerError(code: .unavailable, message: "Writing to the output failed: \(reason).", isRetryable: true)
    }

    static let cancelled = TrackerError(
        code: .cancelled,
        message: "The delivery was cancelled before all its lines were written.",
        isRetryable: true
    )
}
