/// The check of batches of Segment's clients, on one thread.
struct SegmentRow: Row {
    let name = "segment"
    let what = "batches of \(batch) messages of Segment's Python SDK: translate + check, one thread"

    private static let count = 100_000
    private static let batch = 100
    private static let passes = 20
    private static let roundsEach = 4

    func measure(at site: Site) throws -> Measurement {
        let material = try Material(at: site)
        let own = try material.withContext(count: Self.count)
        let messages = try material.segment(count: Self.count)
        func rate(_ file: String, _ format: String...) throws -> Double {
            try figure(
                Child.run(
                    "\(site.programs)/bench-check",
                    [site.plan, file, String(Self.batch), String(Self.passes)] + format
                )
            )
        }
        // Both are checked in the same way; the rest is the translation, whose time does not shrink when the check becomes faster.
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds * Self.roundsEach,
            with: [.itself("the same events in Sluice's own format", target: 0.33) { try rate(own) }]
        ) {
            try rate(messages, "segment")
        }
        measurement.notes = [
            "with messageId and the SDK's context, in the own format as id and context; by the processor time of the one thread"
        ]
        return measurement
    }
}
