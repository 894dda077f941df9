import Foundation

/// Runs of `bench-deliver`, which passes the same deliveries to a tracker or to a ceiling, without a pipeline.
struct Deliveries {
    private static let count = 100_000
    private static let passes = 10
    /// The number of events that a side gets in a round.
    static let events = count * passes

    private let site: Site
    private let file: String

    /// Prepares the events.
    init(at site: Site) throws {
        self.site = site
        file = try Material(at: site).real(count: Self.count)
    }

    /// Measures a side in events/s, and removes what it wrote to `output`, a path in the folder for temporary files.
    func rate(_ side: String, _ arguments: [String], output: String? = nil) throws -> Double {
        func removeOutput() { if let output { try? FileManager.default.removeItem(atPath: output) } }
        removeOutput()
        // Otherwise the system would write what is not synced during the next round.
        defer { removeOutput() }
        return try figure(
            Child.run(
                "\(site.programs)/bench-deliver",
                [site.plan, file, String(Self.passes), side] + arguments
            )
        )
    }
}
