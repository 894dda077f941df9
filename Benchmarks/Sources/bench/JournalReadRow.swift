import Foundation

/// Reading a journal from beginning to end and verifying every checksum, compared with `cat` of its files.
struct JournalReadRow: Row {
    let name = "journal-read"
    let what = "sluice journal cat of a whole journal to /dev/null"

    private static let seconds = 5

    func measure(at site: Site) throws -> Measurement {
        let folder = "\(site.scratch)/journal-read"
        try? FileManager.default.removeItem(atPath: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try write(folder, at: site)
        let bytes = try segments(of: folder).reduce(0) { $0 + (try size(of: $1)) }
        let files = try segments(of: folder).map { "'\($0)'" }.joined(separator: " ")

        // Reads the files once before, so that they are in the page cache.
        _ = try seconds("cat \(files)")
        let cat = Reference.ceiling("cat", target: 0.5) { Double(bytes) / 1e6 / (try seconds("cat \(files)")) }
        var measurement = try Measurement(of: self, unit: "MB/s", rounds: site.rounds, with: [cat]) {
            Double(bytes) / 1e6 / (try seconds("\(site.sluice) journal cat '\(folder)'"))
        }
        measurement.notes = [
            "ceiling: cat of the segments' files to /dev/null, whole programs measured, the files in memory",
            "\(bytes / 1_000_000) MB in \(try segments(of: folder).count) segments",
        ]
        return measurement
    }

    /// Fills a journal, which a stalled tracker keeps from being emptied.
    private func write(_ folder: String, at site: Site) throws {
        let server = try Child(
            "\(site.programs)/bench-serve",
            ["--port", "8184", "--events", site.plan, "--journal", folder, "--unsynced", "--stall"]
        )
        defer { _ = try? server.stop() }
        try server.waitUntilListening(at: 8184)
        let shape = Load.Shape(
            port: 8184,
            connections: 16,
            content: .events(
                try Material(at: site).uniform(count: 100_000),
                aRequest: 100,
                type: "application/x-ndjson"
            ),
            seconds: Self.seconds
        )
        _ = try Load.run(shape, at: site)
    }

    private func segments(of folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".segment") }
            .map { "\(folder)/\($0)" }
    }

    private func size(of path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }

    private func seconds(_ command: String) throws -> Double {
        try ContinuousClock().measure { try Child.run("/bin/sh", ["-c", "exec \(command) > /dev/null"]) } / .seconds(1)
    }
}
