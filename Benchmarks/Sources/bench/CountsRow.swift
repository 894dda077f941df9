import Foundation

/// How often a server retains and releases objects for a request.
///
/// Without a journal, the numbers do not depend on the machine. With one, the work of a commit is divided among its requests, whose number
/// depends on the disk.
struct CountsRow: Row {
    let name: String
    fileprivate let load: RequestKind
    fileprivate let server: HTTPServer
    /// The maximum of retains and releases for a request.
    fileprivate let limit: Double

    #if canImport(Glibc)
    static let all = [
        CountsRow(name: "counts-single", load: .single, server: .sluice, limit: 560),
        CountsRow(name: "counts-batch", load: .batch, server: .sluice, limit: 620),
        CountsRow(name: "counts-durable-single", load: .single, server: .synced, limit: 800),
        CountsRow(name: "counts-durable-batch", load: .batch, server: .synced, limit: 900),
    ]
    #else
    // `counts.c` needs glibc.
    static let all: [CountsRow] = []
    #endif

    var what: String {
        let journal = server == .synced ? ", synced to the journal before the answer" : ""
        return "retains and releases for a request over HTTP, \(load.what)\(journal)"
    }

    private static let port = 8182

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: 100_000)
        let bare = try counts(.bareNIO, file, at: site)
        let ours = try counts(server, file, at: site)
        var measurement = try Measurement(
            of: self,
            unit: "retains and releases",
            rounds: 1,
            goal: .atMost,
            with: [.constant("limit", limit)]
        ) {
            ours.retains + ours.releases
        }
        measurement.details = [("Sluice", ours), ("bare NIO handler", bare)].flatMap { name, counts in
            [
                .init(what: "retains and releases, \(name)", value: counts.retains + counts.releases, unit: ""),
                .init(what: "checks of exclusive access, \(name)", value: counts.accesses, unit: ""),
                .init(what: "objects, \(name)", value: counts.objects, unit: ""),
                .init(what: "calls of malloc, \(name)", value: counts.allocations, unit: ""),
            ]
        }
        measurement.notes = ["calls within the standard library are not counted"]
        return measurement
    }

    /// The counts of a server for a request.
    private func counts(_ server: HTTPServer, _ file: String, at site: Site) throws -> Counts {
        let path = "\(site.scratch)/counts"
        // The linker only warns if it cannot load the library.
        try? FileManager.default.removeItem(atPath: path)
        let environment = ["LD_PRELOAD": "\(site.ceilings)/counts.so", "COUNTS_FILE": path]
        return try server.serving(port: Self.port, at: site, environment: environment) { _ in
            let shape = Load.Shape(
                port: Self.port,
                connections: load.connections,
                content: .events(file, aRequest: load.events, type: load.contentType),
                seconds: 2
            )
            _ = try Load.run(shape, at: site)
            let before = try Counts(path)
            let requests = try Load.run(shape, at: site).requests
            let counts = try Counts(path).since(before, for: requests)
            guard counts.retains > 0 else { throw BenchmarkError("nothing was counted") }
            return counts
        }
    }
}

/// The counters in the file of `counts.c`.
private struct Counts {
    private let numbers: [Double]

    init(_ path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        guard data.count == 5 * 8 else { throw BenchmarkError("\(path) has \(data.count) bytes") }
        numbers = data.withUnsafeBytes { bytes in
            (0..<5).map { Double(bytes.load(fromByteOffset: $0 * 8, as: UInt64.self)) }
        }
    }

    private init(_ numbers: [Double]) {
        self.numbers = numbers
    }

    /// The average of what was done for a number of requests.
    func since(_ before: Counts, for requests: Int) -> Counts {
        Counts(zip(numbers, before.numbers).map { ($0 - $1) / Double(requests) })
    }

    var retains: Double { numbers[0] }
    var releases: Double { numbers[1] }
    var accesses: Double { numbers[2] }
    var objects: Double { numbers[3] }
    var allocations: Double { numbers[4] }
}
