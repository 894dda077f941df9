import Foundation

/// A server whose PostgreSQL is down while senders continue, and then comes back.
struct OutageRow: Row {
    let name = "outage"
    let what = "from PostgreSQL's return until the journal is drained to it"

    private static let events = 5_000_000
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
            let outage = try Outage.survive(Self.events, of: load, at: site)
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
}
