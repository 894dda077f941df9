import Foundation

/// A server whose PostgreSQL is down while senders continue, and then comes back.
struct Outage {
    /// How many events it accepted.
    let events: Int
    /// From PostgreSQL's return to the first rows.
    let secondsToFirst: Double
    /// From the first rows to the last.
    let secondsToLast: Double
    let peakInMegabytes: Double

    var eventsASecond: Double { Double(events) / (secondsToFirst + secondsToLast) }

    private static let eventsARequest = 100

    /// Accepts at least the given number of events while PostgreSQL's socket is missing, puts it back, and waits until all have been
    /// settled; `inspect` gets the server's quarantine then.
    ///
    /// The last events, which are those of `last` if it is given, must get rows: their checkpoint shows that all before are settled.
    static func survive(
        _ events: Int,
        of file: String,
        last: String? = nil,
        at site: Site,
        inspect: (_ quarantine: String) throws -> Void = { _ in }
    ) throws -> Outage {
        let (folder, link) = ("\(site.scratch)/outage", "\(site.scratch)/outage-socket")
        for path in [folder, link] { try? FileManager.default.removeItem(atPath: path) }
        defer { for path in [folder, link] { try? FileManager.default.removeItem(atPath: path) } }
        guard let socket = site.postgres.split(separator: "host=").last else {
            throw BenchmarkError("the URL of PostgreSQL names no folder of its socket: \(site.postgres)")
        }
        let server = try Child(
            site.sluice,
            [
                "serve", "--listen", "127.0.0.1:8185", "--events", site.plan, "--no-admin", "--no-console",
                "--log-level", "critical",
                "--journal", "\(folder)/journal", "--quarantine", "\(folder)/quarantine",
                "--postgres", site.postgres.replacing(socket, with: link),
            ]
        )
        defer { _ = try? server.stop() }
        try server.waitUntilListening(at: 8185)
        var taken = try offer(events, of: file, at: site)
        if let last { taken += try offer(1, of: last, at: site) }
        let clock = ContinuousClock()
        let back = clock.now
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: String(socket))
        try wait(for: 1, at: site)
        let first = clock.now
        try wait(for: taken, at: site)
        let last = clock.now
        try inspect("\(folder)/quarantine")
        return Outage(
            events: taken,
            secondsToFirst: (first - back) / .seconds(1),
            secondsToLast: (last - first) / .seconds(1),
            peakInMegabytes: try server.peakMemory()
        )
    }

    private static func offer(_ events: Int, of file: String, at site: Site) throws -> Int {
        let shape = Load.Shape(
            port: 8185,
            connections: 16,
            content: .events(file, aRequest: eventsARequest, type: "application/x-ndjson"),
            seconds: 2
        )
        var taken = 0
        while taken < events { taken += try Load.run(shape, at: site).requests * eventsARequest }
        return taken
    }

    private static func wait(for rows: Int, at site: Site) throws {
        while try settled(at: site) < rows {
            // Each query takes processor time from the processes that are measured.
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    /// The tracker's checkpoint, as committed with its rows.
    private static func settled(at site: Site) throws -> Int {
        let query = "select coalesce(max(next_sequence), 0) from analytics._sluice_checkpoints"
        let said = try EventTables.sql([query], at: site)
        return Int(said.filter(\.isNumber)) ?? 0
    }
}
