import Foundation
import Synchronization

/// An rsyslogd that belongs to this process, and writes the lines that it receives over TCP to a file; it ends with the process.
///
/// It takes a line as it is, and writes it before it reads the next ones, so what it has read when it ends is in the file.
package final class PrivateRsyslog: Sendable {
    package let port: Int
    private let folder: String
    /// The shell that supervises rsyslogd; `nil` while it is stopped.
    private let shell = Mutex<Shell?>(nil)

    /// The standard input and output of the shell.
    private struct Shell: Sendable {
        let input = Pipe()
        let output = Pipe()
    }

    /// Starts an rsyslogd on a free port.
    package init() async throws {
        let folder = try PrivatePostgres.makeFolder()
        self.folder = folder
        let shell: Shell
        (port, shell) = try await PrivatePostgres.onFreePort { port in
            try Self.configuration(folder, port: port)
                .write(toFile: "\(folder)/rsyslog.conf", atomically: false, encoding: .utf8)
            return try await Self.start(folder, port: port)
        }
        self.shell.withLock { $0 = shell }
    }

    package var url: String { "tcp://127.0.0.1:\(port)" }

    /// The lines that it has written.
    package var lines: [String] {
        let text = FileManager.default.contents(atPath: "\(folder)/events").map { String(decoding: $0, as: UTF8.self) }
        return (text ?? "").split(separator: "\n").map(String.init)
    }

    /// Ends it with SIGTERM, at which it closes its connections, and waits until it has ended.
    package func stop() async throws {
        let shell = self.shell.withLock { shell in
            defer { shell = nil }
            return shell
        }
        guard let shell else { return }
        try shell.input.fileHandleForWriting.write(contentsOf: Data("keep\n".utf8))
        try shell.input.fileHandleForWriting.close()
        _ = await onBlockingThread { shell.output.fileHandleForReading.readDataToEndOfFile() }
    }

    /// Starts it again, on the same port.
    package func start() async throws {
        let shell = try await Self.start(folder, port: port)
        self.shell.withLock { $0 = shell }
    }

    /// Suspends it: its kernel still acknowledges what arrives, and nothing is read.
    package func suspend() throws { try send(SIGSTOP) }

    /// Lets it read again.
    package func resume() throws { try send(SIGCONT) }

    private func send(_ signal: Int32) throws {
        let text = try String(contentsOfFile: "\(folder)/pid", encoding: .utf8)
        guard let process = pid_t(text.filter(\.isNumber)), kill(process, signal) == 0 else {
            throw PrivatePostgres.Unavailable(description: "rsyslogd does not run.")
        }
    }

    private static func configuration(_ folder: String, port: Int) -> String {
        """
        global(workDirectory="\(folder)" maxMessageSize="4m" processInternalMessages="off"
               parser.escapeControlCharactersOnReceive="off")
        # Without a queue, the thread that reads a line also writes it.
        main_queue(queue.type="Direct")
        module(load="imptcp" threads="1")
        template(name="line" type="string" string="%rawmsg%\\n")
        ruleset(name="events") { action(type="omfile" file="\(folder)/events" template="line") }
        # Otherwise the beginning of a line may be taken for its length.
        input(type="imptcp" address="127.0.0.1" port="\(port)" supportOctetCountedFraming="off" ruleset="events")

        """
    }

    /// Starts rsyslogd, and waits until it accepts connections.
    private static func start(_ folder: String, port: Int) async throws -> Shell {
        let process = PrivatePostgres.process("/bin/bash", ["-c", script(folder, port: port)], asOwner: true)
        let shell = Shell()
        process.standardInput = shell.input
        process.standardOutput = shell.output
        // Anything that reads the tests' output waits until every process that can write to it has ended.
        process.standardError = FileHandle.nullDevice
        try withoutBlockedSignals { try process.run() }
        let output = shell.output.fileHandleForReading
        let said = await onBlockingThread { String(decoding: output.availableData, as: UTF8.self) }
        guard said == "up\n" else {
            let rest = await onBlockingThread { output.readDataToEndOfFile() }
            let log = said + String(decoding: rest, as: UTF8.self)
            throw PrivatePostgres.Unavailable(
                description: "rsyslogd did not start (`scripts/setup.sh test` installs it): \(log.suffix(2000))"
            )
        }
        return shell
    }

    /// Runs `body` on a thread that blocks no signals.
    ///
    /// A process starts with the signal mask of the thread that starts it. The threads of Swift's concurrency block SIGTERM, which
    /// rsyslogd would then never get.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var (none, former) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        try body()
    }

    /// Runs rsyslogd until standard input closes; prints "up" or the error.
    ///
    /// The folder stays if a line was read before.
    private static func script(_ folder: String, port: Int) -> String {
        """
        PATH=$PATH:/usr/sbin
        rsyslogd -n -f \(folder)/rsyslog.conf -i \(folder)/pid >\(folder)/log 2>&1 &
        tries=0
        until (exec 3<>/dev/tcp/127.0.0.1/\(port)); do
            tries=$((tries + 1))
            if ! kill -0 $! || [ $tries -gt 20000 ]; then
                cat \(folder)/log
                kill -9 $!
                exit 1
            fi
        done 2>/dev/null
        echo up
        read -r word
        kill -TERM $!
        kill -CONT $!
        wait $!
        [ "$word" = keep ] || rm -rf \(folder)
        """
    }
}
