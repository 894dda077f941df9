/// Typed events: the cost of tracking one.
///
/// No other program does the same, so the reference is a constant.
struct TrackRow: Row {
    let name: String
    let what: String
    fileprivate let mode: String
    fileprivate let events: Int
    fileprivate let unit: String
    fileprivate let limit: Double
    fileprivate let goal: Measurement.Goal
    fileprivate var target = 1.0
    fileprivate let reference: String
    fileprivate let note: String

    static let encode = TrackRow(
        name: "track-encode",
        what: "build + check + encode a typed event of six properties, one thread",
        mode: "encode",
        events: 3_000_000,
        unit: "events/s",
        limit: 5_000_000,
        goal: .atLeast,
        reference: "goal",
        note: "by the processor time of the one thread"
    )

    static let allocations = TrackRow(
        name: "track-allocations",
        what: "blocks of memory for 1,000 typed events, in batches of 1,000",
        mode: "allocations",
        events: 1_000_000,
        unit: "blocks",
        limit: 1000,
        goal: .atMost,
        target: 0.01,
        reference: "1 per event",
        note: "the few there are belong to the batch"
    )

    static let queue = TrackRow(
        name: "track-queue",
        what: "the same through the queue to a tracker that discards, until all are delivered",
        mode: "queue",
        events: 3_000_000,
        unit: "events/s",
        limit: 3_000_000,
        goal: .atLeast,
        reference: "goal",
        note: "one task tracks, in batches of 1,000"
    )

    /// The rows that can be measured on this system: allocations are counted with glibc only.
    #if canImport(Glibc)
    static let all = [encode, allocations, queue]
    #else
    static let all = [encode, queue]
    #endif

    func measure(at site: Site) throws -> Measurement {
        var measurement = try Measurement(
            of: self,
            unit: unit,
            rounds: site.rounds,
            goal: goal,
            with: [.constant(reference, limit, target: target)]
        ) {
            try figure(Child.run("\(site.programs)/bench-track", [mode, String(events)]))
        }
        measurement.notes = [note]
        return measurement
    }
}
