import Foundation
import Synchronization

/// A PgBouncer of this process's own before a private PostgreSQL; gone when the process is.
package final class PrivatePgBouncer: Sendable {
    package let port: Int
    private let process: Process
    private let input = Pipe()

    /// Starts one that pools by `mode`: session, transaction or statement.
    package init(before server: PrivatePostgres, mode: String) async throws {
        port = try PrivatePostgres.freePort()
        let folder = try PrivatePostgres.makeFolder()
        let settings = """
            [databases]
            * = host=127.0.0.1 port=\(server.port)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = \(mode)
            [users]

            """
        // auth_type any lets everybody in as one user of the server.
        try settings.replacingOccurrences(
            of: "port=\(server.port)",
            with: "port=\(server.port) user=postgres"
        ).write(toFile: "\(folder)/pgbouncer.ini", atomically: false, encoding: .utf8)
        let script = """
            PATH=$PATH:/usr/sbin
            pgbouncer -q \(folder)/pgbouncer.ini >\(folder)/log 2>&1 &
            until psql -X -h 127.0.0.1 -p \(port) -U postgres -d postgres -c 'SELECT 1' >/dev/null 2>&1; do
                kill -0 $! || exit 1
            done
            echo up
            cat >/dev/null
            kill -9 $!
            wait $!
            rm -rf \(folder)
            """
        process = PrivatePostgres.process("/bin/sh", ["-c", script], asOwner: true)
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        // Whoever reads what the tests say waits until nobody can write there any more.
        process.standardError = FileHandle.nullDevice
        try process.run()
        let isUp = await onBlockingThread { output.fileHandleForReading.availableData.isEmpty == false }
        guard isUp else {
            let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? "there is no log"
            throw PrivatePostgres.Unavailable(
                description: "PgBouncer did not start (`make setup` installs it): \(log.suffix(2000))"
            )
        }
    }
}
