import EventModel

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// A folder of the operating system.
package struct PosixFileSystem: FileSystem {
    private let path: String
    private let isReadOnly: Bool

    /// Opens the folder; creates it and its parents with mode 0700 if necessary, and syncs them.
    package init(path: String) throws(FileError) {
        self.path = path
        isReadOnly = false
        for changed in try Self.makeFolders(path) { try Self.syncChanged(changed) }
        // An earlier process may have been killed after it created the folder.
        try Self.syncChanged(path + "/..")
    }

    /// Creates a folder and its parents if necessary; returns the folders with new entries, which have to be synced.
    package static func makeFolders(_ path: String) throws(FileError) -> [String] {
        var above = path.hasPrefix("/") ? "/" : "."
        var changed: [String] = []
        for part in path.split(separator: "/") {
            let folder = above == "/" ? "/\(part)" : above == "." ? String(part) : "\(above)/\(part)"
            if mkdir(folder, 0o700) == 0 {
                changed.append(above)
            } else if errno != EEXIST, errno != EISDIR {
                throw FileError("make", folder, errno)
            }
            above = folder
        }
        return changed
    }

    private static func syncChanged(_ path: String) throws(FileError) {
        let folder: PosixFile
        do throws(FileError) {
            folder = try PosixFile(folder: path, name: path)
        } catch {
            // A folder may be writable but not readable; then it cannot be synced.
            if error.errorNumber == EACCES { return }
            throw error
        }
        try folder.syncAll()
    }

    /// Opens an existing folder; with `isReadOnly`, files are opened only for reading, and none is created.
    package init(existing path: String, isReadOnly: Bool) throws(FileError) {
        self.path = path
        self.isReadOnly = isReadOnly
        _ = try PosixFile(folder: path, name: path)
    }

    package func names() throws(FileError) -> [String] {
        guard let folder = opendir(path) else { throw FileError("list", ".", errno) }
        defer { closedir(folder) }
        return try Self.names { readdir(folder) }
    }

    /// All names that `next` returns, in the manner of `readdir`: `nil` is the end, or a failure if `errno` is set.
    package static func names(reading next: () -> UnsafeMutablePointer<dirent>?) throws(FileError) -> [String] {
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = next() else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        // A folder that was read only partly must not look like one with fewer files.
        let error = errno
        guard error == 0 else { throw FileError("list", ".", error) }
        return names
    }

    package func open(_ name: String, creates: Bool) throws(FileError) -> any JournalFile {
        let flags = isReadOnly ? O_RDONLY : creates ? O_RDWR | O_CREAT : O_RDWR
        return try PosixFile(path: path + "/" + name, name: name, flags: flags)
    }

    package func create(_ name: String) throws(FileError) -> any JournalFile {
        try PosixFile(path: path + "/" + name, name: name, flags: O_RDWR | O_CREAT | O_EXCL)
    }

    package func remove(_ name: String) throws(FileError) {
        guard unlink(path + "/" + name) == 0 else { throw FileError("remove", name, errno) }
    }

    package func rename(_ name: String, to other: String) throws(FileError) {
        #if canImport(Darwin)
        let result = Darwin.rename(path + "/" + name, path + "/" + other)
        #elseif canImport(Musl)
        let result = Musl.rename(path + "/" + name, path + "/" + other)
        #else
        let result = Glibc.rename(path + "/" + name, path + "/" + other)
        #endif
        guard result == 0 else { throw FileError("rename", name, errno) }
    }

    package func modificationTime(of name: String) throws(FileError) -> Int64 {
        var status = stat()
        guard lstat(path + "/" + name, &status) == 0 else { throw FileError("measure", name, errno) }
        #if canImport(Darwin)
        return Int64(status.st_mtimespec.tv_sec) * 1_000_000
        #else
        return Int64(status.st_mtim.tv_sec) * 1_000_000
        #endif
    }

    package func syncFolder() throws(FileError) {
        let folder = try PosixFile(folder: path, name: ".")
        try folder.syncAll()
    }

    package func freeBytes() throws(FileError) -> Int {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw FileError("measure", ".", errno) }
        let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return bytes.overflow ? .max : Int(clamping: bytes.partialValue)
    }
}

/// A file of the operating system.
package final class PosixFile: JournalFile {
    private let descriptor: Int32
    private let name: String

    /// Opens a regular file, and follows no symbolic link, which could lead to a file of somebody else.
    init(path: String, name: String, flags: Int32) throws(FileError) {
        self.name = name
        do throws(RegularFile.Failure) {
            descriptor = try RegularFile.open(own: path, flags)
        } catch {
            throw FileError("open", name, error.errorNumber)
        }
    }

    /// Opens a folder, so that it can be synced.
    init(folder path: String, name: String) throws(FileError) {
        self.name = name
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", name, errno) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    package func size() throws(FileError) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("measure", name, errno) }
        return Int(status.st_size)
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
        var count = 0
        while count < buffer.count {
            let result = pread(
                descriptor,
                buffer.baseAddress?.advanced(by: count),
                buffer.count - count,
                off_t(offset + count)
            )
            if result < 0 {
                if errno == EINTR { continue }
                throw FileError("read", name, errno)
            }
            if result == 0 { break }
            count += result
        }
        return count
    }

    package func write(_ parts: [UnsafeRawBufferPointer], at offset: Int) throws(FileError) {
        var rest = parts.map { iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count) }[
            ...
        ]
        var offset = offset
        while let first = rest.first {
            if first.iov_len == 0 {
                rest.removeFirst()
                continue
            }
            let result = rest.withUnsafeBufferPointer {
                pwritev(descriptor, $0.baseAddress, Int32(min($0.count, Self.maximumParts)), off_t(offset))
            }
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { throw FileError("write", name, result == 0 ? ENOSPC : errno) }
            offset += result
            Self.drop(result, of: &rest)
        }
    }

    /// The maximum number of parts of one call (`IOV_MAX`).
    private static let maximumParts = 1024

    /// Removes the bytes that were written.
    private static func drop(_ count: Int, of parts: inout ArraySlice<iovec>) {
        var count = count
        while count > 0, let first = parts.first {
            let taken = min(count, first.iov_len)
            count -= taken
            if taken == first.iov_len {
                parts.removeFirst()
            } else {
                parts[parts.startIndex].iov_base = first.iov_base?.advanced(by: taken)
                parts[parts.startIndex].iov_len -= taken
            }
        }
    }

    package func sync() throws(FileError) {
        #if canImport(Darwin)
        // fsync alone leaves the bytes in the drive's cache.
        guard fcntl(descriptor, F_FULLFSYNC) == 0 else { throw FileError("sync", name, errno) }
        #else
        guard fdatasync(descriptor) == 0 else { throw FileError("sync", name, errno) }
        #endif
    }

    func syncAll() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError("sync", name, errno) }
    }

    package func releaseMemory(before offset: Int) {
        #if !canImport(Darwin)
        // This is only advice, so a failure does not matter.
        posix_fadvise(descriptor, 0, off_t(offset), POSIX_FADV_DONTNEED)
        #endif
    }

    package func truncate(to size: Int) throws(FileError) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw FileError("truncate", name, errno) }
    }
}

/// The error numbers that a journal distinguishes, and the system's messages.
enum PosixErrors {
    static let noEntry = ENOENT
    static let exists = EEXIST
    static let notFolder = ENOTDIR
    static let input = EIO
    static let media: Set<Int32> = [EIO, EBADMSG, ENXIO]

    static func message(_ number: Int32) -> String { RegularFile.Failure(errorNumber: number).description }
}
