import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The Unix domain socket for commands on the same machine, which only the user of the process may use (mode 0600).
struct ControlSocket: Sendable {
    /// The longest path that the system accepts, in bytes: `sun_path` without its NUL.
    #if canImport(Darwin)
    static let maximumPathBytes = 103
    #else
    static let maximumPathBytes = 107
    #endif
    private static let suffix = ".XXXXXX"
    private static let name = "/s"

    let path: String
    /// A folder of our own, in which the socket is made before anyone else can reach it.
    private let folder: String

    /// Where the socket is bound; `publish` moves it to `path`.
    var temporaryPath: String { folder + Self.name }

    /// - Throws: `OperationsError` if the path is too long, or the folder of the socket cannot be written.
    init(path: String) throws(OperationsError) {
        self.path = path
        guard path.utf8.count + Self.suffix.utf8.count + Self.name.utf8.count <= Self.maximumPathBytes else {
            let limit = Self.maximumPathBytes - Self.suffix.utf8.count - Self.name.utf8.count
            let message =
                "The path of the socket '\(path)' has more than \(limit) bytes, which the system does not accept."
            throw OperationsError(code: .unusableFile, message: message, underlying: nil)
        }
        var template = Array((path + Self.suffix).utf8CString)
        // Only this user may enter the folder.
        guard mkdtemp(&template) != nil else {
            let reason = String(cString: strerror(errno))
            throw OperationsError(
                code: .unusableFile,
                message: "The socket '\(path)' cannot be made: \(reason).",
                underlying: nil
            )
        }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Moves the socket, which listens now, to its path, in place of one that a killed process left.
    func publish() throws {
        guard chmod(temporaryPath, 0o600) == 0, rename(temporaryPath, path) == 0 else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSLocalizedDescriptionKey: String(cString: strerror(errno))])
        }
        // Now, because a process that is killed removes nothing.
        rmdir(folder)
    }

    /// Removes the socket, and the folder in which it was made.
    func remove(wasPublished: Bool) {
        unlink(temporaryPath)
        rmdir(folder)
        if wasPublished { unlink(path) }
    }
}
