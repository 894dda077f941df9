/// Deliveries to a webhook, compared with a loop that posts the same bodies with the same client to the same receiver.
struct WebhookRow: Row {
    let name = "webhook"
    let what = "deliveries of 10,000 events to a webhook (NDJSON), one request at a time"

    private static let port = 8186
    /// A round takes a fraction of a second, and other load spoils whole rounds, so there are more of them.
    private static let roundsEach = 4

    func measure(at site: Site) throws -> Measurement {
        let deliveries = try Deliveries(at: site)
        let receiver = try Child("\(site.programs)/bench-bare", [String(Self.port), String(site.cores)])
        defer { _ = try? receiver.stop() }
        try receiver.waitUntilListening(at: Self.port)
        let url = "http://127.0.0.1:\(Self.port)/"
        // The system tells a processor time only once there is some.
        _ = try deliveries.rate("post", [url])
        var shares: [Double] = []
        let post = Reference.ceiling("AsyncHTTPClient loop", target: 0.6) {
            let before = try receiver.processorSeconds()
            let rate = try deliveries.rate("post", [url])
            let seconds = try receiver.processorSeconds() - before
            shares.append(100 * seconds * rate / Double(Deliveries.events))
            return rate
        }
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds * Self.roundsEach,
            with: [post]
        ) {
            try deliveries.rate("webhook", [url])
        }
        // A receiver that has no time left would make both sides look alike.
        measurement.details = [
            .init(what: "the receiver's CPU time, as a share of the loop's time", value: median(shares), unit: "%")
        ]
        measurement.notes = [
            "ceiling: a loop that posts the same bodies over one connection; the receiver is a bare NIO handler",
            "\(Deliveries.events) events a round",
        ]
        return measurement
    }
}
