import Foundation

/// A server whose PostgreSQL is down while senders continue, and then comes back.
struct OutageRow: Row {
    let name = "outage"
    let what = "from PostgreSQL's return until the journal is drained to it"

    private static let events = 5_000_000
    private static let eventsARequest = 100
    private static let limitInMegabytes = 200.0
    private static let rounds = 3

    func measure(at site: Site) throws -> Measurement {
        let material = try Material(at: site)
        // As many events as the server gets, because inserts get slower as a table grows.
        let file = try material.real(count: Self.events)
        let load = try material.real(count: 100_000)
        try EventTables.make(at: site)
        var outages: [Outage] = []
        let replay = Reference.itself("replay of a file", target: 0.4) {
            try EventTables.empty(EventTables.filled, at: site)
            return try Replay.run([file], to: "postgres", options: ["--postgres", site.postgres], at: site)
                .eventsASecond
        }
        var measurement = try Measurement(of: self, unit: "rows/s", rounds: Self.rounds, with: [replay]) {
            try EventTables.empty(EventTables.filled, at: site)
            let outage = try survive(load, at: site)
            outages.append(outage)
            return outage.eventsASecond
        }
        let peak = outages.map(\.peakInMegabytes).max() ?? 0
        guard peak <= Self.limitInMegabytes else {
            throw BenchmarkError("the server took \(Int(peak)) MB; the limit is \(Int(Self.limitInMegabytes))")
        }
        measurement.details = [
            .init(what: "until the first rows arrived", value: median(outages.map(\.secondsToFirst)), unit: "s"),
            .init(what: "from then until the last", value: median(outages.map(\.secondsToLast)), unit: "s"),
            .init(what: "highest resident memory; at most 200 are allowed", value: peak, unit: "MB"),
        ]
        measurement.notes = [
            "from the moment at which PostgreSQL can be reached again, so the wait for the next attempt to connect counts",
            "\(Self.events) events, 100 a request, are taken while PostgreSQL cannot be reached; replay takes as many",
        ]
        return measurement
    }

    /// The result of one outage.
    private struct Outage {
        let events: Int
        /// From PostgreSQL's return to the first rows.
        let secondsToFirst: Double
        /// From the first rows to the last.
        let secondsToLast: Double
        let peakInMegabytes: Double

        var eventsASecond: Double { Double(events) / (secondsToFirst + secondsToLast) }
    }

    /// Accepts events while PostgreSQL's socket is missing, puts it back, and waits until all rows have arrived.
    private func survive(_ file: String, at site: Site) throws -> Outage {
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
        let taken = try offer(file, at: site)
        let clock = ContinuousClock()
        let back = clock.now
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: String(socket))
        try wait(for: 1, at: site)
        let first = clock.now
        try wait(for: taken, at: site)
        return Outage(
            events: taken,
            secondsToFirst: (first - back) / .seconds(1),
            secondsToLast: (clock.now - first) / .seconds(1),
            peakInMegabytes: try server.peakMemory()
        )
    }

    private func offer(_ file: String, at site: Site) throws -> Int {
        let shape = Load.Shape(
            port: 8185,
            connections: 16,
            content: .events(file, aRequest: Self.eventsARequest, type: "application/x-ndjson"),
            seconds: 2
        )
        var taken = 0
        while taken < Self.events { taken += try Load.run(shape, at: site).requests * Self.eventsARequest }
        return taken
    }

    private func wait(for rows: Int, at site: Site) throws {
        while try settled(at: site) < rows {
            // Each query takes processor time from the processes that are measured.
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    /// The tracker's checkpoint, as committed with its rows.
    private func settled(at site: Site) throws -> Int {
        let query = "select coalesce(max(next_sequence), 0) from analytics._sluice_checkpoints"
        let said = try EventTables.sql([query], at: site)
        return Int(said.filter(\.isNumber)) ?? 0
    }
}
