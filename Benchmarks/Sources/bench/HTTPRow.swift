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
    private static let port = 8182

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        var loads: [Load] = []
        let rounds = try Rounds.alternate(site.rounds) {
            switch ceiling {
            case .bareHandler: try round("bench-bare", [String(Self.port)], file, at: site).requestsASecond
            case .unsynced: try serve(file, journals: true, ["--unsynced"], at: site).requestsASecond
            }
        } ours: {
            let load = try serve(file, journals: isDurable, at: site)
            loads.append(load)
            return load.requestsASecond
        }
        return Measurement(of: self, unit: "requests/s", rounds, target: target, notes: notes(rounds, loads))
    }

    private func serve(_ file: String, journals: Bool, _ options: [String] = [], at site: Site) throws -> Load {
        let journal = "\(site.scratch)/journal"
        try? FileManager.default.removeItem(atPath: journal)
        // What the system has not written yet of a journal that is not synced must not be written in the next round.
        defer { try? FileManager.default.removeItem(atPath: journal) }
        let arguments =
            ["--port", String(Self.port), "--events", site.plan] + (journals ? ["--journal", journal] : [])
        return try round("bench-serve", arguments + options, file, at: site)
    }

    /// A server of its own, which is warm when it is measured.
    private func round(_ program: String, _ arguments: [String], _ file: String, at site: Site) throws -> Load {
        let server = try Child("\(site.programs)/\(program)", arguments)
        defer { _ = try? server.stop() }
        try server.waitUntilListening(at: Self.port)
        _ = try Load.run(shape(file, seconds: 1), at: site)
        return try Load.run(shape(file, seconds: Self.seconds), at: site)
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

    private func shape(_ file: String, seconds: Int) -> Load.Shape {
        Load.Shape(
            port: Self.port,
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
