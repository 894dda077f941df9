import EventModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A descriptor, which is closed with the value.
final class Descriptor {
    let number: Int32
    private var isLocked = false

    /// Takes over a descriptor that a call has returned.
    ///
    /// Throws the call's error if there is none.
    init(_ number: Int32) throws(SystemFailure) {
        self.number = number
        guard number >= 0 else { throw SystemFailure(errno) }
    }

    deinit {
        guard number >= 0 else { return }
        // Closing is not enough: a program that is being started has a copy of the descriptor until it is executed.
        if isLocked { _ = flock(number, LOCK_UN) }
        close(number)
    }

    /// Locks the file for this process; returns whether it was possible.
    func lock() throws(SystemFailure) -> Bool {
        if flock(number, LOCK_EX | LOCK_NB) == 0 {
            isLocked = true
            return true
        }
        guard errno == EWOULDBLOCK else { throw SystemFailure(errno) }
        return false
    }
}

/// A file or a folder as such, whatever its name is.
struct FileIdentity: Hashable {
    let device: UInt64
    let number: UInt64
    let isRegularFile: Bool

    /// Reads it from what `fstat` or `fstatat` has returned.
    init(_ result: Int32, _ status: stat) throws(SystemFailure) {
        guard result == 0 else { throw SystemFailure(errno) }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        isRegularFile = status.st_mode & S_IFMT == S_IFREG
    }

    func isSame(as other: FileIdentity) -> Bool { device == other.device && number == other.number }
}

/// A folder that is open, so that what happens to the names above it does not matter.
///
/// Names below it are single names without separators, and none of them is followed if it is a symbolic link: somebody else may
/// have made it.
struct ArchiveFolder {
    private static let fileMode: mode_t = 0o640
    private static let folderMode: mode_t = 0o750

    private let descriptor: Descriptor

    private init(_ descriptor: Descriptor) {
        self.descriptor = descriptor
    }

    /// Opens a folder by its path, in which symbolic links are followed.
    ///
    /// With `creates`, it is created if only its last name is missing.
    init(path: String, creates: Bool) throws(SystemFailure) {
        do throws(SystemFailure) {
            descriptor = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        } catch {
            guard creates, error.isMissing else { throw error }
            guard mkdir(path, Self.folderMode) == 0 || errno == EEXIST else { throw SystemFailure(errno) }
            descriptor = try Descriptor(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            try folder("..", creates: false).sync()
        }
    }

    /// A folder in it.
    func folder(_ name: String, creates: Bool) throws(SystemFailure) -> ArchiveFolder {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        do throws(SystemFailure) {
            return ArchiveFolder(try Descriptor(openat(descriptor.number, name, flags)))
        } catch {
            guard creates, error.isMissing else { throw error }
            guard mkdirat(descriptor.number, name, Self.folderMode) == 0 || errno == EEXIST else {
                throw SystemFailure(errno)
            }
            let folder = ArchiveFolder(try Descriptor(openat(descriptor.number, name, flags)))
            try sync()
            return folder
        }
    }

    /// A folder below it, created with those above it.
    func folder(_ names: [String]) throws(SystemFailure) -> ArchiveFolder {
        var folder = self
        for name in names { folder = try folder.folder(name, creates: true) }
        return folder
    }

    /// Creates a file.
    func create(_ name: String) throws(SystemFailure) -> Descriptor {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        return try Descriptor(openat(descriptor.number, name, flags, Self.fileMode))
    }

    /// Opens a regular file.
    func file(_ name: String) throws(SystemFailure) -> Descriptor {
        // Opening a pipe would wait for its other end.
        let file = try Descriptor(openat(descriptor.number, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC))
        guard try file.identity().isRegularFile else { throw SystemFailure(RegularFile.Failure.otherKind) }
        return file
    }

    /// What a name leads to; `nil` if nothing has it.
    func identity(of name: String) throws(SystemFailure) -> FileIdentity? {
        var status = stat()
        let result = fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
        if result != 0, errno == ENOENT { return nil }
        return try FileIdentity(result, status)
    }

    /// Gives a file another name, in place of its own, unless something has that name.
    ///
    /// - Throws: Also an error for which `isExisting` is true; `EMLINK` if the file system cannot do that.
    func move(_ name: String, to folder: ArchiveFolder, as other: String) throws(SystemFailure) {
        if linkat(descriptor.number, name, folder.descriptor.number, other, 0) == 0 {
            // The file keeps its first name until the second one is on disk.
            try folder.sync()
            try remove(name)
            return
        }
        // A file system without links.
        guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(errno) else { throw SystemFailure(errno) }
        // A plain renaming could replace another process's file.
        #if canImport(Darwin)
        let flags = UInt32(RENAME_EXCL)
        guard renameatx_np(descriptor.number, name, folder.descriptor.number, other, flags) == 0 else {
            throw SystemFailure([EINVAL, ENOTSUP].contains(errno) ? EMLINK : errno)
        }
        try folder.sync()
        #else
        throw SystemFailure(EMLINK)
        #endif
    }

    /// Removes a file, if it exists.
    func remove(_ name: String) throws(SystemFailure) {
        guard unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT else { throw SystemFailure(errno) }
    }

    /// Removes a folder in it, if that is empty.
    func removeIfEmpty(_ name: String) {
        _ = unlinkat(descriptor.number, name, AT_REMOVEDIR)
    }

    /// The names in it, in any order.
    func names() throws(SystemFailure) -> [String] {
        let number = openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw SystemFailure(errno) }
        guard let list = fdopendir(number) else {
            let failure = SystemFailure(errno)
            close(number)
            throw failure
        }
        defer { closedir(list) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(list) else { break }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw SystemFailure(errno) }
        return names
    }

    /// Syncs the names in it.
    func sync() throws(SystemFailure) {
        // Some network file systems sync folders by themselves, and say that the call is invalid.
        guard fsync(descriptor.number) == 0 || errno == EINVAL || errno == ENOTSUP else { throw SystemFailure(errno) }
    }
}

// MARK: Files

extension Descriptor {
    func identity() throws(SystemFailure) -> FileIdentity {
        var status = stat()
        return try FileIdentity(fstat(number, &status), status)
    }

    func byteCount() throws(SystemFailure) -> Int {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw SystemFailure(errno) }
        return Int(status.st_size)
    }

    /// Reads up to a buffer's size at an offset; 0 bytes at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemFailure) -> Int {
        while true {
            let count = pread(number, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            guard errno == EINTR else { throw SystemFailure(errno) }
        }
    }

    /// Writes all bytes at an offset; after an error, any of them may have been written.
    func write(_ bytes: [UInt8], at offset: Int) throws(SystemFailure) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                return pwrite(number, rest.baseAddress, rest.count, off_t(offset + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemFailure(count == 0 ? ENOSPC : errno) }
            written += count
        }
    }

    /// Syncs the bytes and the size.
    func sync() throws(SystemFailure) {
        #if canImport(Darwin)
        // fsync alone leaves the bytes in the drive's cache.
        guard fcntl(number, F_FULLFSYNC) == 0 else { throw SystemFailure(errno) }
        #else
        guard fdatasync(number) == 0 else { throw SystemFailure(errno) }
        #endif
    }

    func truncate(to size: Int) throws(SystemFailure) {
        guard ftruncate(number, off_t(size)) == 0 else { throw SystemFailure(errno) }
    }
}
