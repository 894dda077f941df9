import Foundation

/// Events over HTTP to a tracker that discards them.
struct HTTPRow: Row {
    let name: String
    let connections: Int
    let eventsARequest: Int
    let contentType: String
    let target: Double
    /// Whether ours answers only after the events are in the journal, and synced.
    var isDurable = false
    /// What ours is held against.
    var ceiling = Ceiling.bareHandler

    /// The other side of the row.
    enum Ceiling: String {
        case bareHandler = "a NIO handler that reads the body, keeps none of it, and answers 200"
        case unsynced = "the same with a journal that is not synced"
    }

    var what: String {
        let events = eventsARequest == 1 ? "one event" : "\(eventsARequest) events"
        let journal = isDurable ? ", synced to the journal before the answer" : ""
        return "HTTP to a discarding tracker, \(events) a request, \(connections) connections\(journal)"
    }

    private static let seconds = 4

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        let journals = "\(site.scratch)/journals"
        try? FileManager.default.removeItem(atPath: journals)
        defer { try? FileManager.default.removeItem(atPath: journals) }
        let other = try startCeiling(at: site, journal: journals + "/unsynced")
        defer { _ = try? other.stop() }
        let journal = isDurable ? ["--journal", journals + "/synced"] : []
        let ours = try Child("\(site.programs)/bench-serve", ["--port", "8182", "--events", site.plan] + journal)
        defer { _ = try? ours.stop() }
        try other.waitUntilListening(at: 8181)
        try ours.waitUntilListening(at: 8182)

        for port in [8181, 8182] {
            _ = try Load.run(shape(port: port, file: file, seconds: 1), at: site)
        }
        var loads: [Load] = []
        let rounds = try Rounds.alternate(site.rounds) {
            try Load.run(shape(port: 8181, file: file), at: site).requestsASecond
        } ours: {
            let load = try Load.run(shape(port: 8182, file: file), at: site)
            loads.append(load)
            return load.requestsASecond
        }
        return Measurement(of: self, unit: "requests/s", rounds, target: target, notes: notes(rounds, loads))
    }

    private func startCeiling(at site: Site, journal: String) throws -> Child {
        switch ceiling {
        case .bareHandler:
            try Child("\(site.programs)/bench-bare", ["8181"])
        case .unsynced:
            try Child(
                "\(site.programs)/bench-serve",
                ["--port", "8181", "--events", site.plan, "--journal", journal, "--unsynced"]
            )
        }
    }

    private func notes(_ rounds: Rounds, _ loads: [Load]) -> [String] {
        let events = Int(median(rounds.ours) * Double(eventsARequest))
        let middle = Int(median(loads.map { Double($0.medianLatency) }))
        let slow = Int(median(loads.map { Double($0.latency99) }))
        return [
            "ceiling: \(ceiling.rawValue)",
            "wrk -t1 -c\(connections) -d\(Self.seconds)s on the same machine, \(contentType), events of 227 bytes",
            "\(events) events/s; latency \(middle) µs in the median, \(slow) µs at 99 %",
        ]
    }

    private func shape(port: Int, file: String, seconds: Int = Self.seconds) -> Load.Shape {
        Load.Shape(
            port: port,
            connections: connections,
            eventsARequest: eventsARequest,
            contentType: contentType,
            file: file,
            seconds: seconds
        )
    }
}

extension HTTPRow {
    /// One event a request.
    static func single(
        _ name: String,
        target: Double,
        isDurable: Bool = false,
        ceiling: Ceiling = .bareHandler
    ) -> HTTPRow {
        HTTPRow(
            name: name,
            connections: 64,
            eventsARequest: 1,
            contentType: "application/json",
            target: target,
            isDurable: isDurable,
            ceiling: ceiling
        )
    }

    /// A hundred events a request.
    static func batch(
        _ name: String,
        target: Double,
        isDurable: Bool = false,
        ceiling: Ceiling = .bareHandler
    ) -> HTTPRow {
        HTTPRow(
            name: name,
            connections: 16,
            eventsARequest: 100,
            contentType: "application/x-ndjson",
            target: target,
            isDurable: isDurable,
            ceiling: ceiling
        )
    }
}
