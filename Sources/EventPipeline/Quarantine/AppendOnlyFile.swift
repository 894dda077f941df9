import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file to which whole lines are appended, made with mode 0600; the owner serialises the calls.
final class AppendOnlyFile: Sendable {
    private let descriptor: Int32
    private let state: Mutex<State>

    private struct State: Sendable {
        var size: Int
        /// Whether the last line lacks its newline, because of a crash or a full disk.
        var isTorn: Bool
    }

    /// Opens the file, or makes it.
    init(path: String) throws(QuarantineError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.unwritable(path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = errno
            _ = close(descriptor)
            throw Self.unwritable(path, error)
        }
        var last = UInt8(ascii: "\n")
        let size = Int(status.st_size)
        if size > 0 { _ = pread(descriptor, &last, 1, status.st_size - 1) }
        self.descriptor = descriptor
        state = Mutex(State(size: size, isTorn: last != UInt8(ascii: "\n")))
    }

    deinit {
        _ = close(descriptor)
    }

    /// How many bytes the file has, as far as this process wrote or found them.
    var size: Int { state.withLock { $0.size } }

    /// Appends a line, which ends in a newline, with one `write`; returns what the system said where it failed.
    ///
    /// A line that could be written only in part is ended before the next, so that it spoils no other.
    func append(_ line: [UInt8]) -> String? {
        state.withLock { state in
            let bytes = state.isTorn ? [UInt8(ascii: "\n")] + line : line
            let written = writeOnce(bytes)
            guard written >= 0 else { return Self.message(errno) }
            guard written > 0 else { return "nothing was written" }
            state.size += written
            state.isTorn = bytes[written - 1] != UInt8(ascii: "\n")
            return written == bytes.count ? nil : "only a part of the line was written"
        }
    }

    /// Makes what was appended survive a crash; returns what the system said where it did not.
    func sync() -> String? {
        fsync(descriptor) == 0 ? nil : Self.message(errno)
    }

    private func writeOnce(_ bytes: [UInt8]) -> Int {
        while true {
            let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 || errno != EINTR { return written }
        }
    }

    private static func unwritable(_ path: String, _ error: Int32) -> QuarantineError {
        QuarantineError(
            code: .unwritable,
            message: "The quarantine file '\(path)' cannot be opened for writing: \(message(error)).",
            errorNumber: error
        )
    }

    private static func message(_ error: Int32) -> String {
        strerror(error).map { String(cString: $0) } ?? "error \(error)"
    }
}
