import Foundation
import Synchronization

/// A PostgreSQL cluster that belongs to this process, in a folder under /tmp that is removed when the process ends.
///
/// The server runs under a shell that waits for its standard input to close, which happens however this process ends. Then
/// the shell stops the server and removes the folder. PostgreSQL refuses to run as root, so then it runs as `postgres`.
package final class PrivatePostgres: Sendable {
    /// Why the server cannot run; a test that needs it fails with this error.
    package struct Unavailable: Error, CustomStringConvertible {
        package let description: String

        /// Whether PostgreSQL or PgBouncer reported that its port is in use.
        fileprivate var isPortTaken: Bool {
            description.contains("ddress already in use") || description.contains("could not create any TCP/IP sockets")
        }
    }

    /// The cluster that most tests share; each test has a database of its own.
    package static func shared() async throws -> PrivatePostgres {
        try await starting.value
    }

    private static let starting = Task { try await PrivatePostgres() }
    private static let databaseCount = Atomic<Int>(0)

    /// The TCP port on 127.0.0.1, which is also the number in the socket's name.
    package let port: Int
    private let folder: String
    private let binaries: String
    private let server = Mutex<Shell?>(nil)

    /// Creates a cluster and starts its server.
    package init() async throws {
        let binaries = try Self.findBinaries()
        self.binaries = binaries
        let shell: Shell
        (port, (folder, shell)) = try await Self.onFreePort { port in
            let folder = try await Self.makeCluster(binaries)
            return (folder, try await Self.start(folder, binaries, port: port))
        }
        server.withLock { $0 = shell }
    }

    private static func makeCluster(_ binaries: String) async throws -> String {
        let folder = try makeFolder()
        do {
            try await run(
                "\(binaries)/initdb",
                ["-D", "\(folder)/data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"],
                asOwner: true
            )
            // Passwords are required only over TCP, so that a test can have one rejected.
            let access =
                "local all all trust\nhost all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
            try access.write(toFile: "\(folder)/data/pg_hba.conf", atomically: false, encoding: .utf8)
            return folder
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    /// Creates a new, empty database.
    package func makeDatabase(_ options: String = "") async throws -> TestDatabase {
        let number = Self.databaseCount.add(1, ordering: .relaxed).newValue
        let name = "test_\(number)"
        try await TestDatabase(server: self, name: "postgres").run("CREATE DATABASE \(name) \(options)")
        return TestDatabase(server: self, name: name)
    }

    /// Starts the server and waits until it accepts connections; as a standby, it replays the log until it is promoted.
    package func start(asStandby isStandby: Bool = false) async throws {
        if isStandby, !FileManager.default.createFile(atPath: "\(folder)/data/standby.signal", contents: nil) {
            throw Unavailable(description: "\(folder) cannot be written to.")
        }
        let shell = try await Self.start(folder, binaries, port: port)
        server.withLock { $0 = shell }
    }

    private static func start(_ folder: String, _ binaries: String, port: Int) async throws -> Shell {
        let settings = [
            "listen_addresses=127.0.0.1", "port=\(port)", "unix_socket_directories=\(folder)", "fsync=off",
            "max_connections=200", "log_min_messages=fatal", "deadlock_timeout=200ms",
        ]
        let options = settings.map { "-c \($0)" }.joined(separator: " ")
        // The shell prints a word once the server is up; if the start fails, the shell ends.
        let script = """
            trap '' INT
            control="\(binaries)/pg_ctl -D \(folder)/data -w -s"
            $control -l \(folder)/log -o '\(options)' start && echo up
            mode=$(cat)
            $control -m "${mode:-immediate}" stop
            [ -e \(folder)/keep ] || rm -rf \(folder)
            """
        let shell = Shell(process: process("/bin/sh", ["-c", script], asOwner: true))
        guard try await shell.begin() else {
            let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "there is no log"
            await shell.end()
            throw Unavailable(description: "PostgreSQL did not start: \(log.suffix(2000))")
        }
        return shell
    }

    /// Stops the server as in a crash, and waits until it has ended; the data remains.
    package func stopImmediately() async throws { try await stop("immediate") }

    /// Stops the server as for maintenance, which ends all sessions, and waits until it has ended; the data remains.
    package func stopFast() async throws { try await stop("fast") }

    private func stop(_ mode: String) async throws {
        guard FileManager.default.createFile(atPath: "\(folder)/keep", contents: nil) else {
            throw Unavailable(description: "\(folder) cannot be written to.")
        }
        let shell = server.withLock { shell in
            defer { shell = nil }
            return shell
        }
        await shell?.end(mode)
        try FileManager.default.removeItem(atPath: "\(folder)/keep")
    }

    /// Runs psql with statements from `input`; by default it stops at the first error.
    package func psql(_ database: String, _ input: String, stopsAtErrors: Bool = true) async throws -> String {
        try await Self.run(
            "\(binaries)/psql",
            [
                "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=\(stopsAtErrors ? 1 : 0)", "-h", "127.0.0.1", "-p",
                "\(port)", "-U", "postgres",
                "-d", database, "-f", "-",
            ],
            input: input
        )
    }

    /// Starts a psql that keeps its session, for locks that a test holds while another session works.
    package func openSession(_ database: String) throws -> TestSession {
        let process = Self.process(
            "\(binaries)/psql",
            ["-X", "-q", "-A", "-t", "-h", "127.0.0.1", "-p", "\(port)", "-U", "postgres", "-d", database],
            asOwner: false
        )
        let session = TestSession()
        process.standardInput = session.input
        process.standardOutput = session.output
        try process.run()
        return session
    }
}

extension PrivatePostgres {
    private static func findBinaries() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
            .sorted()
        let candidates =
            versions.reversed().map { "\(root)/\($0)/bin" } + ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"]
        if let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }) {
            return found
        }
        throw Unavailable(
            description:
                "These tests need a PostgreSQL server, and there is no initdb in \(candidates.joined(separator: ", ")):"
                + " install the package postgresql, or run `scripts/setup.sh test`."
        )
    }

    /// Short, because a socket's path has at most 107 bytes; the server's user owns it.
    static func makeFolder() throws -> String {
        var template = Array("/tmp/sluice-postgres-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Unavailable(description: "There is no room for a cluster in /tmp (error \(errno)).")
        }
        let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if geteuid() == 0 {
            guard let owner = getpwnam("postgres") else {
                throw Unavailable(description: "PostgreSQL refuses to run as root, and there is no user postgres.")
            }
            guard chown(folder, owner.pointee.pw_uid, owner.pointee.pw_gid) == 0 else {
                throw Unavailable(description: "\(folder) could not be given to the user postgres (error \(errno)).")
            }
        }
        return folder
    }

    /// Starts a server on a free port, and tries another one if the port has been taken in the meantime.
    static func onFreePort<Server>(_ start: (Int) async throws -> Server) async throws -> (port: Int, server: Server) {
        var tries = 0
        while true {
            tries += 1
            let port = try freePort()
            do {
                return (port, try await start(port))
            } catch let error as Unavailable where tries < 5 && error.isPortTaken {
                continue
            }
        }
    }

    /// Finds a free port outside the range that systems use for outgoing connections.
    private static func freePort() throws -> Int {
        for _ in 0..<1000 {
            let port = Int.random(in: 15_000..<32_000)
            if isFree(port) { return port }
        }
        throw Unavailable(description: "There is no free port on 127.0.0.1.")
    }

    private static func isFree(_ port: Int) -> Bool {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    static func process(_ executable: String, _ arguments: [String], asOwner: Bool) -> Process {
        let process = Process()
        let steps = asOwner && geteuid() == 0 ? ["runuser", "-u", "postgres", "--", executable] : [executable]
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = steps + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: "/tmp")
        return process
    }

    @discardableResult
    private static func run(
        _ executable: String,
        _ arguments: [String],
        asOwner: Bool = false,
        input: String? = nil
    ) async throws -> String {
        let (status, output) = try await finish(process(executable, arguments, asOwner: asOwner), input: input)
        guard status == 0 else {
            throw Unavailable(description: "\(executable) ended with status \(status): \(output.suffix(2000))")
        }
        return output
    }

    /// Runs a process until it ends, on a thread that may block.
    private static func finish(_ process: Process, input: String?) async throws -> (status: Int32, output: String) {
        try await onBlockingThread { Result { try finishBlocking(process, input: input) } }.get()
    }

    private static func finishBlocking(_ process: Process, input: String?) throws -> (status: Int32, output: String) {
        let output = Pipe()
        let feed = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = feed
        try process.run()
        // A pipe holds 64 KiB, so longer statements do not work here.
        try? feed.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
        try feed.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}

/// The shell that supervises a server.
private struct Shell: Sendable {
    let process: Process
    private let input = Pipe()
    private let output = Pipe()

    init(process: Process) {
        self.process = process
        process.standardInput = input
        process.standardOutput = output
    }

    /// Starts the shell and waits for its first word; returns false if it ended without one.
    func begin() async throws -> Bool {
        try process.run()
        return await onBlockingThread { output.fileHandleForReading.availableData.isEmpty == false }
    }

    /// Lets the shell stop the server in one of the modes of `pg_ctl`, and waits for that.
    func end(_ mode: String = "") async {
        try? input.fileHandleForWriting.write(contentsOf: Data(mode.utf8))
        try? input.fileHandleForWriting.close()
        _ = await onBlockingThread { output.fileHandleForReading.readDataToEndOfFile() }
    }
}

/// Runs blocking work on a thread of its own.
func onBlockingThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}

/// A database of a private cluster.
package struct TestDatabase: Sendable {
    package let server: PrivatePostgres
    package let name: String

    /// The connection as a libpq URI.
    package var url: String { "postgres://postgres@127.0.0.1:\(server.port)/\(name)" }

    /// The connection through a process that listens on another port, or as another role.
    package func url(port: Int? = nil, role: String = "postgres") -> String {
        "postgres://\(role)@127.0.0.1:\(port ?? server.port)/\(name)"
    }

    /// Runs statements and returns the rows, one line each, with fields separated by `|`.
    @discardableResult
    package func run(_ sql: String) async throws -> [String] {
        try await server.psql(name, sql).split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    }
}

/// A session that stays open.
package struct TestSession: Sendable {
    fileprivate let input = Pipe()
    fileprivate let output = Pipe()

    /// Runs statements whose last one prints a line, and waits for that line.
    package func run(_ sql: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((sql + "\n").utf8))
        _ = output.fileHandleForReading.availableData
    }

    /// Does the same for statements that may take long, on a thread of its own.
    package func runLong(_ sql: String) async throws {
        try await onBlockingThread { Result { try run(sql) } }.get()
    }

    /// Ends the session, which rolls back its transaction.
    package func close() throws {
        try input.fileHandleForWriting.close()
        _ = output.fileHandleForReading.readDataToEndOfFile()
    }
}
