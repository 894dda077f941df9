/// Deliveries to a program with the protocol `lines`, compared with the same bytes sent to `cat`.
struct ExecRow: Row {
    let name = "exec"
    let what = "deliveries of 10,000 events to a program that writes them to a file (protocol lines)"

    /// A round takes a fraction of a second, and other load spoils whole rounds, so there are more of them.
    private static let roundsEach = 4

    func measure(at site: Site) throws -> Measurement {
        let deliveries = try Deliveries(at: site)
        let output = "\(site.scratch)/exec.ndjson"
        let cat = Reference.ceiling("cat > file", target: 0.5) {
            try deliveries.rate("cat", [output], output: output)
        }
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds * Self.roundsEach,
            with: [cat]
        ) {
            try deliveries.rate("exec", ["python3", site.execProgram, output], output: output)
        }
        measurement.notes = [
            "the program is \(site.execProgram); neither it nor cat syncs",
            "ceiling: the same bytes, through a pipe with as much room, until cat has ended",
            "\(Deliveries.events) events a round",
        ]
        return measurement
    }
}
