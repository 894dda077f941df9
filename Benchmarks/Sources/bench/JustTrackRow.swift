/// JustTrack's interface, from the call that tracks an event to the tracker.
struct JustTrackRow: Row {
    let name = "justtrack"
    let what = "JustTrack's interface: trackEvent on one thread → spool → a tracker that completes at once"

    /// The rate of JustTrack 4 itself, including its persistence, on the reference machine with two cores.
    ///
    /// JustTrack 4 is not part of this project, so it is not measured again.
    private static let original = 80.0
    private static let count = 50_000

    func measure(at site: Site) throws -> Measurement {
        let folder = site.scratch + "/justtrack"
        var measurement = try Measurement(
            of: self,
            unit: "events/s",
            rounds: site.rounds,
            with: [.constant("JustTrack 4", Self.original, target: 100)]
        ) {
            try figure(Child.run("\(site.programs)/bench-justtrack", [folder, "\(Self.count)"]))
        }
        measurement.notes = [
            "constant: JustTrack 4 itself, persistence included, as it was measured once on a machine with two cores",
            "\(Self.count) events of three texts a round, each in the system's cache of the disk before trackEvent returns",
        ]
        return measurement
    }
}
