/// The check, on one thread.
struct CheckRow: Row {
    let name = "check"
    let what = "parse + check + encode, one thread, batches of 100 events of 227 bytes"

    private static let passes = "20"
    /// A round is a fraction of a second, and a busy neighbour spoils whole rounds: so there are more of them.
    private static let roundsEach = 4

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        let rounds = try Rounds.alternate(site.rounds * Self.roundsEach) {
            try figure(Child.run("\(site.ceilings)/simdjson-parse", [file, Self.passes]))
        } ours: {
            try figure(Child.run("\(site.programs)/bench-check", [site.plan, file, Self.passes]))
        }
        return Measurement(
            of: self,
            unit: "events/s",
            rounds,
            target: 0.3,
            notes: [
                "ceiling: simdjson's DOM of each event, nothing else",
                "100,000 distinct events, \(Self.passes) passes a round, by the processor time of the one thread",
            ]
        )
    }
}
