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
    /// The greatest length of a path that the system accepts, in bytes: `sun_path` without its NUL.
    #if canImport(Darwin)
    static let maximumPathBytes = 103
    #else
    static let maximumPathBytes = 107
    #endif
    private static let suffix = ".XXXXXX"
    private static let name = "/s"

    /// A file, whatever its name is.
    private struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64
    }

    let path: String
    /// A folder of our own, in which the socket is made before anyone else can reach it.
    private let folder: String

    /// Where the socket is bound; `publish` moves it to `path`.
    var temporaryPath: String { folder + Self.name }

    /// Makes the folder in which the socket is bound.
    ///
    /// - Throws: `OperationsError` if the path is too long, if there is another file or the socket of another process, or if the
    ///   folder cannot be written.
    init(path: String) throws(OperationsError) {
        self.path = path
        let maximumBytes = Self.maximumPathBytes - Self.suffix.utf8.count - Self.name.utf8.count
        guard path.utf8.count <= maximumBytes else {
            throw Self.unusable(path, "its path has \(path.utf8.count) bytes, and at most \(maximumBytes) are possible")
        }
        if Self.identity(of: path) != nil {
            guard Self.isSocket(path) else { throw Self.unusable(path, "there is another file") }
            guard !Self.isListening(path) else { throw Self.unusable(path, "another process uses it") }
        }
        Self.removeFolders(besides: path)
        var template = Array((path + Self.suffix).utf8CString)
        // Only this user may enter the folder.
        guard mkdtemp(&template) != nil else { throw Self.unusable(path, String(cString: strerror(errno))) }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func unusable(_ path: String, _ reason: String) -> OperationsError {
        let message = "The socket '\(path)' cannot be made: \(reason)."
        return OperationsError(code: .unusableFile, message: message, underlying: nil)
    }

    /// Moves the socket, which listens now, to its path, in place of one that a killed process left; returns what removes it.
    func publish() throws(OperationsError) -> @Sendable () -> Void {
        guard chmod(temporaryPath, 0o600) == 0, let identity = Self.identity(of: temporaryPath),
            rename(temporaryPath, path) == 0
        else { throw Self.unusable(path, String(cString: strerror(errno))) }
        // Now, because a process that is killed removes nothing.
        rmdir(folder)
        return { [path] in
            // Another process may have made one of its own there.
            if Self.identity(of: path) == identity { unlink(path) }
        }
    }

    /// Removes the folder in which the socket was made, if the socket was not published.
    func removeFolder() { Self.remove(folder) }

    private static func remove(_ folder: String) {
        unlink(folder + name)
        rmdir(folder)
    }

    /// Removes the folders that killed processes have left.
    private static func removeFolders(besides path: String) {
        let url = URL(fileURLWithPath: path)
        let (parent, prefix) = (url.deletingLastPathComponent().path, url.lastPathComponent + ".")
        let length = prefix.utf8.count + suffix.utf8.count - 1
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        where name.hasPrefix(prefix) && name.utf8.count == length && !isListening(parent + "/" + name + Self.name) {
            remove(parent + "/" + name)
        }
    }

    private static func identity(of path: String) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return Identity(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Whether a process accepts connections at a socket, even if it has too many now.
    private static func isListening(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count <= maximumPathBytes else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue)
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 || errno == EAGAIN || errno == EINPROGRESS
    }
}
