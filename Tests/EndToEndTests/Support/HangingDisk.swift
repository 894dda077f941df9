#if os(Linux)
import Foundation

/// A disk for `sluice serve` whose `fdatasync` hangs while a test lets it: a library that is loaded before the system's own.
///
/// Each `fdatasync` waits for a lock on a file first, which the test holds while the disk is to hang.
final class HangingDisk: Sendable {
    /// The library could not be made, or the lock not be had.
    struct Failed: Error {
        let reason: String
    }

    private static let library = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdlib.h>
        #include <sys/file.h>
        #include <unistd.h>

        int fdatasync(int file) {
            int gate = open(getenv("HANGING_DISK_GATE"), O_RDONLY | O_CLOEXEC);
            if (gate >= 0) {
                while (flock(gate, LOCK_SH) != 0 && errno == EINTR) {}
                close(gate);
            }
            int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
            return next(file);
        }
        """

    private let gate: Int32
    /// What the process needs for it.
    let environment: [String: String]

    /// Compiles the library in a folder.
    init(in folder: TestFolder) async throws {
        let source = try folder.write(Self.library, to: "hanging-disk.c")
        let library = folder.path("hanging-disk.so")
        let compiled = try await Command.run("clang", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        guard compiled.status == 0 else { throw Failed(reason: "the library was not compiled: \(compiled.text)") }
        let path = try folder.write("", to: "hanging-disk.gate")
        gate = open(path, O_RDWR | O_CLOEXEC)
        guard gate >= 0 else { throw Failed(reason: "the gate cannot be opened") }
        environment = ["LD_PRELOAD": library, "HANGING_DISK_GATE": path]
    }

    deinit {
        close(gate)
    }

    /// Makes each sync from now on hang.
    func hang() throws {
        guard lock(LOCK_EX) else { throw Failed(reason: "the gate cannot be locked") }
    }

    /// Lets all syncs go on.
    func answer() throws {
        guard lock(LOCK_UN) else { throw Failed(reason: "the gate cannot be unlocked") }
    }

    private func lock(_ operation: Int32) -> Bool {
        while flock(gate, operation) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}
#endif
