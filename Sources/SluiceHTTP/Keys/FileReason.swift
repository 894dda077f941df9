#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Why a file could not be read.
enum FileReason {
    /// The system's message, without the path, which Foundation's message repeats.
    static func of(_ error: any Error) -> String {
        let posix = (error as? CocoaError)?.underlying as? POSIXError ?? error as? POSIXError
        return posix.map { String(cString: strerror($0.code.rawValue)) } ?? "\(error)"
    }
}
