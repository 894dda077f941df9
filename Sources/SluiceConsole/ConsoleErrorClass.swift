import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What an error of the output means: none of them is an event's fault, so all can be tried again.
enum ConsoleErrorClass {
    static func error(for number: Int32) -> TrackerError {
        let reason = String(cString: strerror(number))
        return TrackerError(code: .unavailable, message: "The output takes no lines: \(reason).", isRetryable: true)
    }

    static let cancelled = TrackerError(
        code: .cancelled,
        message: "The delivery was cancelled before all its lines were written.",
        isRetryable: true
    )
}
