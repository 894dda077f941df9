/// Deliveries to files, compared with a loop that writes and syncs the same bytes, or with zlib alone.
struct FileRow: Row {
    let name: String
    let what: String
    /// What the names of the tracker's files end with.
    fileprivate let suffix: String
    /// The side of `bench-deliver` that it is compared with.
    fileprivate let ceiling: String
    fileprivate let ceilingName: String
    fileprivate let note: String

    static let all = [
        FileRow(
            name: "file",
            what: "deliveries of 10,000 events to a file by hour, synced before each is delivered",
            suffix: ".ndjson",
            ceiling: "append",
            ceilingName: "write and fdatasync",
            note: "ceiling: a loop in one thread that writes and syncs the same bytes, a delivery at a time"
        ),
        FileRow(
            name: "file-gzip",
            what: "the same, compressed",
            suffix: ".ndjson.gz",
            ceiling: "deflate",
            ceilingName: "zlib, level 1",
            note: "ceiling: zlib in one thread, a member of gzip for each delivery, which is neither written nor synced"
        ),
    ]

    func measure(at site: Site) throws -> Measurement {
        let deliveries = try Deliveries(at: site)
        let output = "\(site.scratch)/deliveries"
        var probe = SyncProbe(at: site)
        let bare = Reference.ceiling(ceilingName, target: 0.5) {
            try deliveries.rate(ceiling, ceiling == "append" ? [output] : [], output: output)
        }
        var measurement = try Measurement(of: self, unit: "events/s", rounds: site.rounds, with: [bare]) {
            try probe.sample()
            let path = output + "/{yyyy}-{MM}-{dd}/{HH}" + suffix
            return try deliveries.rate("file", [path], output: output)
        }
        measurement.details = [probe.detail]
        measurement.notes = [note, "\(Deliveries.events) events a round"]
        return measurement
    }
}
