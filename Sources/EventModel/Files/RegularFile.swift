#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Opens regular files, and nothing else that may have their names.
///
/// Opening a pipe that nobody writes to blocks, and a symbolic link leads to a file that may belong to somebody else.
package enum RegularFile {
    /// Why a file could not be opened or read.
    package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The system's `errno`, or one of the two numbers below, which no system uses.
        package let errorNumber: Int32

        /// The name is that of a symbolic link.
        package static let symbolicLink: Int32 = -1
        /// The file is a pipe, a socket or a device.
        package static let otherKind: Int32 = -2

        package init(errorNumber: Int32) {
            self.errorNumber = errorNumber
        }

        /// Whether the file does not exist.
        package var isMissing: Bool { errorNumber == ENOENT }

        /// For example `Permission denied`.
        package var description: String {
            switch errorNumber {
            case Self.symbolicLink: "it is a symbolic link, and only a regular file is accepted here"
            case Self.otherKind: "it is not a regular file"
            default: strerror(errorNumber).map { String(cString: $0) } ?? "error \(errorNumber)"
            }
        }
    }

    /// The size up to which a file is read, in bytes.
    package static let maximumBytes = 64 << 20

    /// Opens one of Sluice's own files; one that is created gets mode 0600.
    ///
    /// - Returns: The descriptor, which is closed when a program is executed.
    /// - Throws: If it is a symbolic link, or is not a regular file.
    package static func open(own path: String, _ flags: Int32) throws(Failure) -> Int32 {
        try open(path, flags | O_NOFOLLOW)
    }

    /// The contents of one of Sluice's own files.
    ///
    /// - Throws: If it cannot be read, is a symbolic link, or is not a regular file.
    package static func contents(own path: String) throws(Failure) -> [UInt8] {
        try contents(of: open(path, O_RDONLY | O_NOFOLLOW))
    }

    /// The contents of a file that a user has named, which may be a symbolic link, as the secrets that Kubernetes mounts are.
    ///
    /// A pipe is accepted only as a shell passes it: `/dev/stdin`, and for `<(…)` `/dev/fd/63` or `/proc/self/fd/63`.
    ///
    /// - Throws: If it cannot be read, or is not a regular file.
    package static func contents(given path: String) throws(Failure) -> [UInt8] {
        guard path.hasPrefix("/dev/") || path.hasPrefix("/proc/") else {
            return try contents(of: open(path, O_RDONLY))
        }
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errorNumber: errno) }
        return try contents(of: descriptor)
    }

    private static func open(_ path: String, _ flags: Int32) throws(Failure) -> Int32 {
        let descriptor = systemOpen(path, flags | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errorNumber: reason(errno, of: path, flags)) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = errno
            close(descriptor)
            throw Failure(errorNumber: error)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Failure(errorNumber: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : Failure.otherKind)
        }
        return descriptor
    }

    /// The reason for which a file was not opened, from the system's error number.
    private static func reason(_ error: Int32, of path: String, _ flags: Int32) -> Int32 {
        switch error {
        case ELOOP where flags & O_NOFOLLOW != 0: Failure.symbolicLink
        // A socket, or a pipe without a reader; the error would otherwise look like that of a failed disk.
        case ENXIO: Failure.otherKind
        default: error
        }
    }

    /// Reads the whole file, and closes it.
    ///
    /// - Throws: Also `EFBIG` if it has more than `maximumBytes`.
    private static func contents(of descriptor: Int32) throws(Failure) -> [UInt8] {
        defer { close(descriptor) }
        var contents: [UInt8] = []
        return try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) { buffer throws(Failure) in
            while true {
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                if count == 0 { break }
                if count > 0 {
                    contents += buffer.prefix(count)
                    if contents.count > maximumBytes { throw Failure(errorNumber: EFBIG) }
                } else if errno != EINTR {
                    throw Failure(errorNumber: errno)
                }
            }
            return contents
        }
    }

    private static func systemOpen(_ path: String, _ flags: Int32) -> Int32 {
        #if canImport(Glibc)
        Glibc.open(path, flags, 0o600)
        #elseif canImport(Musl)
        Musl.open(path, flags, 0o600)
        #elseif canImport(Darwin)
        Darwin.open(path, flags, 0o600)
        #endif
    }
}
