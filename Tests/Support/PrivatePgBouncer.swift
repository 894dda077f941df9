import Foundation

/// A PgBouncer that belongs to this process, in front of a private PostgreSQL; it ends with the process.
package final class PrivatePgBouncer: Sendable {
    package let port: Int
    private let process: Process
    private let input: Pipe

    /// Starts a PgBouncer with a pool mode: session, transaction or statement.
    package init(before server: PrivatePostgres, mode: String) async throws {
        (port, (process, input)) = try await PrivatePostgres.onFreePort { port in
            try await Self.start(before: server, mode: mode, port: port)
        }
    }

    private static func start(
        before server: PrivatePostgres,
        mode: String,
        port: Int
    ) async throws -> (Process, Pipe) {
        let folder = try PrivatePostgres.makeFolder()
        let process = PrivatePostgres.process("/bin/sh", ["-c", script(folder, port: port)], asOwner: true)
        let (input, output) = (Pipe(), Pipe())
        do {
            try settings(before: server, mode: mode, port: port)
                .write(toFile: "\(folder)/pgbouncer.ini", atomically: false, encoding: .utf8)
            process.standardInput = input
            process.standardOutput = output
            // Anything that reads the tests' output waits until every process that can write to it has ended.
            process.standardError = FileHandle.nullDevice
            try process.run()
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        let said = await onBlockingThread { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }
        guard said == "up\n" else {
            let rest = await onBlockingThread { output.fileHandleForReading.readDataToEndOfFile() }
            let log = said + String(decoding: rest, as: UTF8.self)
            throw PrivatePostgres.Unavailable(
                description: "PgBouncer did not start (`scripts/setup.sh test` installs it): \(log.suffix(2000))"
            )
        }
        return (process, input)
    }

    private static func settings(before server: PrivatePostgres, mode: String, port: Int) -> String {
        // auth_type any lets every client in as one user of the server.
        """
        [databases]
        * = host=127.0.0.1 port=\(server.port) user=postgres
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = \(port)
        unix_socket_dir =
        auth_type = any
        pool_mode = \(mode)
        [users]

        """
    }

    /// Runs PgBouncer until standard input closes; prints "up" or the error, and always removes the folder.
    private static func script(_ folder: String, port: Int) -> String {
        """
        PATH=$PATH:/usr/sbin
        trap 'rm -rf \(folder)' EXIT
        pgbouncer \(folder)/pgbouncer.ini >\(folder)/log 2>&1 &
        tries=0
        until PGCONNECT_TIMEOUT=10 psql -X -h 127.0.0.1 -p \(port) -U postgres -d postgres -c 'SELECT 1' \
                >\(folder)/answer 2>&1; do
            tries=$((tries + 1))
            if ! kill -0 $! || [ $tries -gt 2000 ]; then
                cat \(folder)/log \(folder)/answer
                kill -9 $!
                exit 1
            fi
        done 2>/dev/null
        echo up
        cat >/dev/null
        kill -9 $!
        wait $!
        """
    }
}
