import EventModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Locks a folder for this process, until it is released or the process ends.
package final class FolderLock: Sendable {
    /// The file's name.
    static let name = "lock"

    private let descriptor: Int32

    /// Takes the lock, a file named `lock` that contains the process id.
    ///
    /// - Throws: `locked`, with the other process's id, if another process has it; `unwritable` if the file cannot be created.
    package init(folder: String) throws(JournalError) {
        let path = folder + "/" + Self.name
        // From here on `deinit` closes it, even if this throws.
        do throws(RegularFile.Failure) {
            descriptor = try RegularFile.open(own: path, O_RDWR | O_CREAT)
        } catch {
            throw JournalError(.unwritable, FileError("open", Self.name, error.errorNumber))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            let owner = Self.owner(descriptor)
            guard error == EWOULDBLOCK else { throw JournalError(.unwritable, FileError("lock", Self.name, error)) }
            let process = owner.map { "process \($0)" } ?? "another process"
            throw JournalError(.locked, "The journal in '\(folder)' is in use by \(process).")
        }
        let number = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, number, number.count, 0) == number.count else {
            throw JournalError(.unwritable, FileError("write", Self.name, errno))
        }
    }

    deinit {
        // Closing is not enough: a child process that is being started has a copy of the descriptor until it calls exec.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func owner(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return Int32(String(decoding: bytes.prefix(max(0, count)).prefix { $0 >= UInt8(ascii: "0") }, as: UTF8.self))
    }
}
