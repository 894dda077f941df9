import Foundation

/// The memory of a server whose only tracker stalls while senders continue.
struct MemoryRow: Row {
    let name = "memory"
    let what = "memory with one tracker stalled and 2 million events offered, in MB"

    private static let eventsOffered = 2_000_000
    private static let eventsARequest = 100
    private static let limitInMegabytes = 200.0
    /// The maximum growth from the first half of the load to the second that counts as flat, in MB.
    private static let growthAllowed = 10.0

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        let server = try Child(
            "\(site.programs)/bench-serve",
            ["--port", "8183", "--events", site.plan, "--stall", "--max-wait", "20"]
        )
        defer { _ = try? server.stop() }
        try server.waitUntilListening(at: 8183)

        let half = try offer(file, Self.eventsOffered / 2, to: server, at: site)
        let whole = try offer(file, Self.eventsOffered / 2, to: server, at: site)
        let growth = whole - half
        guard growth <= Self.growthAllowed else {
            throw BenchmarkError("memory is not flat: a peak of \(half) MB after the first half, \(whole) MB after all")
        }
        let limit = Reference.constant("limit", Self.limitInMegabytes)
        var measurement = try Measurement(of: self, unit: "MB", rounds: 1, goal: .atMost, with: [limit]) { whole }
        measurement.notes = [
            String(format: "peak resident memory; it grew by %.1f MB in the second half", growth),
            "100 events a request, 16 connections; one tracker stalls, another discards; full queues answer 503",
        ]
        return measurement
    }

    /// Sends `events` events, and returns the peak memory so far.
    private func offer(_ file: String, _ events: Int, to server: Child, at site: Site) throws -> Double {
        let shape = Load.Shape(
            port: 8183,
            connections: 16,
            content: .events(file, aRequest: Self.eventsARequest, type: "application/x-ndjson"),
            seconds: 2
        )
        var offered = 0
        while offered < events {
            let load = try Load.offer(shape, at: site)
            guard load.requests > 0 else { throw BenchmarkError("the server answers nothing") }
            offered += load.requests * Self.eventsARequest
        }
        return try server.peakMemory()
    }
}
