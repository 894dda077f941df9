#if os(Linux)
import ServerTestSupport
import Foundation

/// Makes a system call hang in `sluice serve` while a test wants it to, with a library that is loaded before libc.
///
/// Each call first waits for a file lock, which the test holds while the call is to hang.
final class HangingCall: Sendable {
    /// The calls that can hang.
    enum Name: String {
        /// Called to sync a file; hangs as on a disk that does not respond.
        case fdatasync
        /// Called to accept a connection; hanging blocks the event loop.
        case accept4
    }

    /// The library could not be compiled, or the file could not be opened or locked.
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
        #include <sys/socket.h>
        #include <unistd.h>

        static void wait_for(const char *name) {
            const char *path = getenv(name);
            int gate = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
            if (gate < 0) return;
            if (flock(gate, LOCK_SH | LOCK_NB) != 0) {
                int note = open(getenv("HANGING_NOTE"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
                if (note >= 0) close(note);
                while (flock(gate, LOCK_SH) != 0 && errno == EINTR) {}
            }
            close(gate);
        }

        int fdatasync(int file) {
            wait_for("HANGING_fdatasync");
            int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
            return next(file);
        }

        int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags) {
            wait_for("HANGING_accept4");
            int (*next)(int, struct sockaddr *, socklen_t *, int) =
                (int (*)(int, struct sockaddr *, socklen_t *, int))dlsym(RTLD_NEXT, "accept4");
            return next(listener, address, length, flags);
        }
        """

    private let gate: Int32
    private let note: String
    /// The environment variables that the process needs.
    let environment: [String: String]

    /// Compiles the library in a folder.
    init(_ name: Name, in folder: TestFolder) async throws {
        let source = try folder.write(Self.library, to: "hanging-call.c")
        let library = folder.path("hanging-call.so")
        let compiled = try await Command.run("clang", ["-shared", "-fPIC", "-o", library, source, "-ldl"])
        guard compiled.status == 0 else { throw Failed(reason: "the library was not compiled: \(compiled.text)") }
        let path = try folder.write("", to: "hanging-call.gate")
        gate = open(path, O_RDWR | O_CLOEXEC)
        guard gate >= 0 else { throw Failed(reason: "the gate cannot be opened") }
        note = folder.path("hanging-call.note")
        environment = ["LD_PRELOAD": library, "HANGING_\(name.rawValue)": path, "HANGING_NOTE": note]
    }

    deinit {
        close(gate)
    }

    /// Makes all calls hang from now on.
    func hang() throws {
        guard lock(LOCK_EX) else { throw Failed(reason: "the gate cannot be locked") }
    }

    /// Lets all calls continue.
    func answer() throws {
        guard lock(LOCK_UN) else { throw Failed(reason: "the gate cannot be unlocked") }
    }

    /// Waits until a call hangs.
    func waitUntilHanging() async throws {
        while !FileManager.default.fileExists(atPath: note) {
            try await waitBriefly()
        }
    }

    private func lock(_ operation: Int32) -> Bool {
        while flock(gate, operation) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }
}
#endif
