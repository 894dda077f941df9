import EventModel
import Foundation
import ServiceLifecycle
import SluiceHTTP

/// Tells systemd that the server is ready, that it is stopping, and that it still works.
///
/// The protocol is that of sd_notify(3): a datagram with a line for each statement, to the socket that `NOTIFY_SOCKET` names.
struct SystemdNotifier: Sendable {
    private let path: [UInt8]
    /// How often systemd expects to hear that the server works; `nil` if it does not.
    let watchdogInterval: Duration?

    /// `nil` if the process was not started by a unit of `Type=notify`.
    init?(environment: [String: String]) {
        guard var path = environment["NOTIFY_SOCKET"].map({ Array($0.utf8) }), let first = path.first else {
            return nil
        }
        // An abstract socket, whose name begins with NUL.
        if first == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
        self.path = path
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds($0) }
    }

    /// Sends a statement such as `READY=1`; a failure has no consequence here, and systemd acts on its own.
    func send(_ statement: String) {
        #if os(Linux)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(start + path.count)
        withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = sendto(descriptor, statement, statement.utf8.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
        #endif
    }
}

/// Tells systemd that the server works, twice in each interval of its watchdog, as long as every event loop answers.
struct SystemdWatchdog: Service {
    let notifier: SystemdNotifier
    let interval: Duration
    let server: IngestServer

    func run() async {
        await cancelWhenGracefulShutdown {
            let clock = RelativeClock(ContinuousClock())
            var next = clock.now()
            while !Task.isCancelled {
                // It waits for each event loop; one that hangs ends the reports.
                _ = await server.turnStatistics()
                notifier.send("WATCHDOG=1")
                next = max(clock.now(), next + interval / 2)
                guard (try? await clock.sleepUntil(next)) != nil else { return }
            }
        }
    }
}
