internal import Foundation

/// Why the system could not do something with a file.
package enum SystemReason {
    /// The system's own words, which name no path; Foundation's differ between platforms.
    package static func of(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
        let posix = [underlying, error].compactMap { $0 as NSError? }.first { $0.domain == NSPOSIXErrorDomain }
        guard let posix, let code = POSIXErrorCode(rawValue: Int32(posix.code)) else { return "unknown reason" }
        return String(cString: strerror(code.rawValue))
    }
}
