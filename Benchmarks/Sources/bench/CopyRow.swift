/// The encoding of rows for PostgreSQL, on one thread and without a server.
struct CopyRow: Row {
    let name = "copy"
    let what = "rows of PostgreSQL's binary COPY, one thread, batches of \(batch) events of 227 bytes"

    private static let count = 100_000
    private static let batch = 100
    private static let passes = 20
    private static let roundsEach = 4

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: Self.count)
        func rate(_ program: String, _ arguments: String...) throws -> Double {
            try figure(Child.run(program, arguments + [file, String(Self.batch), String(Self.passes)]))
        }
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds * Self.roundsEach,
            with: [.ceiling("simdjson parse_many", target: 1) { try rate("\(site.ceilings)/simdjson-parse") }]
        ) {
            try rate("\(site.programs)/bench-copy", site.plan)
        }
        measurement.notes = ["from canonical lines, which have an id and a time of arrival; the check is not counted"]
        return measurement
    }
}
