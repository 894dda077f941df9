import Foundation

/// Measures `fdatasync` on the disk that holds the journals of a run.
struct SyncProbe {
    private static let appendBytes = 300
    private static let syncsASample = 100

    private let path: String
    /// In microseconds.
    private var latencies: [Double] = []

    init(at site: Site) {
        path = "\(site.scratch)/sync-probe"
    }

    /// The disk's latency as a detail of a row.
    var detail: Measurement.Detail {
        Measurement.Detail(
            what:
                "fdatasync on the same disk, median of \(latencies.count), each after an append of \(Self.appendBytes) bytes",
            value: median(latencies),
            unit: "µs"
        )
    }

    /// Takes some measurements.
    mutating func sample() throws {
        _ = try appendsASecond(count: Self.syncsASample)
    }

    /// Appends about as many bytes as a commit of one event, and syncs, repeatedly; returns the rate.
    mutating func appendsASecond(count: Int) throws -> Double {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw BenchmarkError("cannot write \(path)") }
        defer {
            close(file)
            unlink(path)
        }
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: Self.appendBytes)
        let clock = ContinuousClock()
        let start = clock.now
        for _ in 0..<count {
            guard write(file, bytes, bytes.count) == bytes.count else { throw BenchmarkError("cannot write \(path)") }
            let written = clock.now
            guard fdatasync(file) == 0 else { throw BenchmarkError("cannot sync \(path)") }
            latencies.append((clock.now - written) / .microseconds(1))
        }
        return Double(count) / ((clock.now - start) / .seconds(1))
    }
}
