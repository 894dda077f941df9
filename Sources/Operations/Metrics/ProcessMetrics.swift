import CoreMetrics
import EventModel
import MetricDefinitions
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The metrics of the process, under the names that Prometheus' own client libraries use.
///
/// The memory is reported on Linux only.
final class ProcessMetrics: Sendable {
    static let definitions = [cpu, residentMemory, virtualMemory, openFiles, maximumFiles, startTime]

    private static let cpu = MetricDefinition(
        "process_cpu_seconds_total",
        .counter,
        help: "Processor time of the process"
    )
    private static let residentMemory = MetricDefinition(
        "process_resident_memory_bytes",
        .gauge,
        help: "Memory of the process that is in RAM"
    )
    private static let virtualMemory = MetricDefinition(
        "process_virtual_memory_bytes",
        .gauge,
        help: "Address space of the process"
    )
    private static let openFiles = MetricDefinition(
        "process_open_fds",
        .gauge,
        help: "Open file descriptors, connections included"
    )
    private static let maximumFiles = MetricDefinition(
        "process_max_fds",
        .gauge,
        help: "The limit on open file descriptors"
    )
    private static let startTime = MetricDefinition(
        "process_start_time_seconds",
        .gauge,
        help: "When the metrics of the process began, in seconds since 1970"
    )

    private let cpu: FloatingPointCounter
    private let residentMemory: Gauge
    private let virtualMemory: Gauge
    private let openFiles: Gauge
    private let maximumFiles: Gauge
    private let countedSeconds = Mutex(0.0)

    init(_ factory: any MetricsFactory, startedAt: Timestamp) {
        cpu = Self.cpu.fractionalCounter(in: factory)
        residentMemory = Self.residentMemory.gauge(in: factory)
        virtualMemory = Self.virtualMemory.gauge(in: factory)
        openFiles = Self.openFiles.gauge(in: factory)
        maximumFiles = Self.maximumFiles.gauge(in: factory)
        Self.startTime.gauge(in: factory).record(Double(startedAt.microseconds) / 1e6)
    }

    /// Asks the system, and records what it says.
    func record() {
        let seconds = Self.processorSeconds
        let further = countedSeconds.withLock { counted in
            defer { counted = max(counted, seconds) }
            return seconds - counted
        }
        cpu.increment(by: further)
        if let (total, resident) = Self.memory {
            virtualMemory.record(total)
            residentMemory.record(resident)
        }
        if let count = Self.openFileCount { openFiles.record(count) }
        if let limit = Self.fileLimit { maximumFiles.record(limit) }
    }

    private static var processorSeconds: Double {
        var usage = rusage()
        #if canImport(Glibc)
        let process = RUSAGE_SELF.rawValue
        #else
        let process = RUSAGE_SELF
        #endif
        guard getrusage(process, &usage) == 0 else { return 0 }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    /// The address space and the part of it that is in RAM, in bytes; `nil` if the system does not say it in a file.
    private static var memory: (total: Int, resident: Int)? {
        guard let file = fopen("/proc/self/statm", "r") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let pages = text.split(separator: " ").prefix(2).compactMap { Int($0) }
        guard pages.count == 2 else { return nil }
        let pageBytes = Int(sysconf(Int32(_SC_PAGESIZE)))
        return (pages[0] * pageBytes, pages[1] * pageBytes)
    }

    private static var openFileCount: Int? {
        guard let folder = opendir("/dev/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of the folder itself.
        return max(0, count - 3)
    }

    private static var fileLimit: Int? {
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
    }
}
