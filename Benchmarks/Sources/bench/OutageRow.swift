import Foundation

/// A server whose PostgreSQL is down while the senders go on, and then is there again.
struct OutageRow: Row {
    let name = "outage"
    let what = "draining the journal to PostgreSQL after an outage"

    private static let events = 5_000_000
    private static let limitInMegabytes = 200.0

    func measure(at site: Site) throws -> Measurement {
        let material = try Material(at: site)
        // As many as the server gets, because a table takes rows the slower the more it has.
        let file = try material.real(count: Self.events)
        let load = try material.real(count: 100_000)
        try Child.run(site.sluice, ["migrate", "--postgres", site.postgres, "--events", site.plan])
        var peaks: [Double] = []
        let rounds = try Rounds.alternate(1) {
            try empty(at: site)
            return try Replay.run([file], to: "postgres", options: ["--postgres", site.postgres], at: site)
                .eventsASecond
        } ours: {
            try empty(at: site)
            let (rate, peak) = try survive(load, at: site)
            peaks.append(peak)
            return rate
        }
        let peak = peaks.max() ?? 0
        guard peak <= Self.limitInMegabytes else {
            throw BenchmarkError("the server took \(Int(peak)) MB; the limit is \(Int(Self.limitInMegabytes))")
        }
        return Measurement(
            of: self,
            unit: "rows/s",
            rounds,
            target: 0.8,
            notes: [
                "ceiling: sluice replay of a file of \(Self.events) such events",
                "\(Self.events) events, 100 a request, are taken while PostgreSQL cannot be reached",
                String(format: "peak resident memory %.0f MB, the draining included; at most 200 are allowed", peak),
            ]
        )
    }

    /// Takes events while PostgreSQL's socket is not where the server looks for it, and then lets it be there; returns
    /// how many rows a second arrive from the first to the last, and the server's peak memory.
    private func survive(_ file: String, at site: Site) throws -> (rate: Double, peak: Double) {
        let (folder, door) = ("\(site.scratch)/outage", "\(site.scratch)/outage-socket")
        for path in [folder, door] { try? FileManager.default.removeItem(atPath: path) }
        defer { for path in [folder, door] { try? FileManager.default.removeItem(atPath: path) } }
        guard let socket = site.postgres.split(separator: "host=").last else {
            throw BenchmarkError("the URL of PostgreSQL names no folder of its socket: \(site.postgres)")
        }
        let server = try Child(
            site.sluice,
            [
                "serve", "--listen", "127.0.0.1:8185", "--events", site.plan, "--no-console", "--log-level", "critical",
                "--journal", "\(folder)/journal", "--quarantine", "\(folder)/quarantine",
                "--postgres", site.postgres.replacing(socket, with: door),
            ]
        )
        defer { _ = try? server.stop() }
        try server.waitUntilListening(at: 8185)
        let taken = try offer(file, at: site)
        try FileManager.default.createSymbolicLink(atPath: door, withDestinationPath: String(socket))
        return (try drainRate(taken, at: site), try server.peakMemory())
    }

    private func offer(_ file: String, at site: Site) throws -> Int {
        let shape = Load.Shape(
            port: 8185,
            connections: 16,
            eventsARequest: 100,
            contentType: "application/x-ndjson",
            file: file,
            seconds: 2
        )
        var taken = 0
        while taken < Self.events { taken += try Load.run(shape, at: site).requests * shape.eventsARequest }
        return taken
    }

    private func drainRate(_ events: Int, at site: Site) throws -> Double {
        let clock = ContinuousClock()
        var first: (time: ContinuousClock.Instant, rows: Int)?
        while true {
            let rows = try settled(at: site)
            let now = clock.now
            if let first, rows >= events { return Double(rows - first.rows) / ((now - first.time) / .seconds(1)) }
            if first == nil, rows > 0 { first = (now, rows) }
            // To ask takes the processor from those who are measured.
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    /// How far the tracker has got, as the transactions of its rows say.
    private func settled(at site: Site) throws -> Int {
        let said = try sql(["select coalesce(max(next_sequence), 0) from analytics._sluice_checkpoints"], at: site)
        return Int(said.filter(\.isNumber)) ?? 0
    }

    private func empty(at site: Site) throws {
        try sql(
            [
                "truncate analytics.item_purchased, analytics.item_returned, analytics._sluice_checkpoints",
                "checkpoint",
            ],
            at: site
        )
    }

    @discardableResult
    private func sql(_ commands: [String], at site: Site) throws -> String {
        let arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", site.postgres]
        return try Child.run("psql", arguments + commands.flatMap { ["-c", $0] })
    }
}
