import EventModel
import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A call of the system failed.
struct SystemFailure: Error, Hashable {
    /// The system's error number, `errno`.
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    var isMissing: Bool { number == ENOENT }
    var isExisting: Bool { number == EEXIST }

    /// For example `No space left on device`.
    var text: String { RegularFile.Failure(errorNumber: number).description }
}

/// What can go wrong with files; each cause always has the same sentence, by which the pipeline recognizes it.
enum FileErrors {
    static func invalidSettings(_ problem: PathTemplate.Problem) -> TrackerError {
        TrackerError(code: .invalidSettings, message: "The path is invalid: \(problem.sentence).", isRetryable: false)
    }

    /// The folder cannot be used.
    ///
    /// What an operator does not have to change is a retry: a full disk, a failing one, too many open files.
    static func error(_ failure: SystemFailure, folder: String) -> TrackerError {
        switch failure.number {
        case ENOENT:
            TrackerError(
                code: .notPrepared,
                message: "The folder '\(folder)' does not exist, nor does the one above it; create it.",
                isRetryable: false
            )
        case ENOTDIR, ELOOP, EISDIR:
            TrackerError(
                code: .notPrepared,
                message: "'\(folder)', or something in it, is not the folder that it has to be; move it away.",
                isRetryable: false
            )
        case EACCES, EPERM, EROFS:
            TrackerError(
                code: .misconfigured,
                message: "Sluice may not write to the folder '\(folder)': \(failure.text); give it the permission.",
                isRetryable: false
            )
        case ENOLCK, ENOTSUP, EOPNOTSUPP:
            TrackerError(
                code: .misconfigured,
                message: "The file system of the folder '\(folder)' cannot lock files; use another one.",
                isRetryable: false
            )
        case EMLINK:
            TrackerError(
                code: .misconfigured,
                message: "The file system of the folder '\(folder)' has no hard links; use another one.",
                isRetryable: false
            )
        case EXDEV:
            TrackerError(
                code: .misconfigured,
                message: "The folders in '\(folder)' must be on one file system; move them there.",
                isRetryable: false
            )
        default: unavailable("The folder '\(folder)' cannot be written to: \(failure.text).")
        }
    }

    static func unavailable(_ sentence: String) -> TrackerError {
        TrackerError(code: .unavailable, message: sentence, isRetryable: true)
    }
}
