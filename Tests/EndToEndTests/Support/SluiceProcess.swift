import Foundation
import ServerTestSupport
import SluiceTesting

/// The built program, started as a user starts it.
final class SluiceProcess: Sendable {
    /// The kind of standard input.
    enum Input {
        case nothing
        case file(URL)
        /// A pipe that the test writes to.
        case pipe(Pipe)
    }

    /// How a process ended.
    struct Ending: Sendable, Equatable {
        let status: Int32
        let isBySignal: Bool

        static func exit(_ status: Int32) -> Ending { Ending(status: status, isBySignal: false) }
        static func signal(_ number: Int32) -> Ending { Ending(status: number, isBySignal: true) }
    }

    /// The program was not built.
    struct NotBuilt: Error {}

    let output: OutputLog?
    let errors: OutputLog
    let processID: Int32
    private let ending = Watched<Ending?>(nil)

    /// Starts the program, another program of the project, or any `executable`.
    ///
    /// If `readsOutput` is false, nothing reads its standard output, which is `stdout`. If `keepsOutput` is false, lines are only
    /// counted. The environment is the test's own without Sluice's settings.
    init(
        _ arguments: [String],
        program: String = "sluice",
        executable: URL? = nil,
        in folder: TestFolder,
        environment: [String: String] = [:],
        input: Input = .nothing,
        stdout: Pipe = Pipe(),
        readsOutput: Bool = true,
        keepsOutput: Bool = true
    ) throws {
        let process = Process()
        process.executableURL = try executable ?? Self.executable(program)
        process.arguments = arguments
        process.currentDirectoryURL = folder.url
        process.environment = Self.environment.merging(environment) { $1 }
        process.standardInput = try Self.standardInput(input)
        let stderr = Pipe()
        process.standardOutput = stdout
        process.standardError = stderr
        process.terminationHandler = { [ending] process in
            ProcessWatch.forget(process.processIdentifier)
            let isBySignal = process.terminationReason == .uncaughtSignal
            ending.update { [status = process.terminationStatus] in
                $0 = Ending(status: status, isBySignal: isBySignal)
            }
        }
        output = readsOutput ? OutputLog(reading: stdout.fileHandleForReading, keepsLines: keepsOutput) : nil
        errors = OutputLog(reading: stderr.fileHandleForReading, keepsLines: true)
        try process.run()
        processID = process.processIdentifier
        ProcessWatch.add(processID)
        // If it has already ended, it was removed from the watch before it was added.
        if !process.isRunning { ProcessWatch.forget(processID) }
        // The child has inherited these; the end of its output is seen only when no other process can write to it.
        try stdout.fileHandleForWriting.close()
        try stderr.fileHandleForWriting.close()
        if case .pipe(let pipe) = input { try pipe.fileHandleForReading.close() }
        // The logs have copies of their own. Foundation keeps the process, and these with it, beyond its end; and with some 1,360 open
        // files, its next `run` reads past the end of a page of /proc/self/fd.
        if readsOutput { try stdout.fileHandleForReading.close() }
        try stderr.fileHandleForReading.close()
    }

    deinit {
        if ending.value == nil { kill(processID, SIGKILL) }
    }

    /// Whether the process has ended.
    var hasEnded: Bool { ending.value != nil }

    /// Sends a signal.
    func send(_ signal: Int32) {
        if ending.value == nil { kill(processID, signal) }
    }

    /// Waits until the process has ended and all its output was read.
    func waitForEnd() async throws -> Ending {
        await ending.wait { $0 != nil }
        // The time limit of the test has passed, so the error includes the output.
        guard let ending = ending.value else { throw OutputLog.Missing(text: "the end", output: errors.text) }
        await output?.waitForEnd()
        await errors.waitForEnd()
        return ending
    }

    /// The peak memory of the process, in KiB, as counted by the kernel.
    func peakMemoryInKibibytes() throws -> Int {
        try memoryInKibibytes("VmHWM")
    }

    /// Limits the process to this much more memory than it uses now; `nil` removes the limit.
    func limitMemory(toFurtherKibibytes further: Int?) async throws {
        let limit = try further.map { String((try memoryInKibibytes("VmData") + $0) << 10) } ?? "unlimited"
        _ = try await Command.run("prlimit", ["--pid", String(processID), "--data=\(limit):unlimited"])
    }

    /// Limits the size of the process's files, which has the same effect as a full disk; `nil` removes the limit.
    func limitFiles(toBytes limit: Int?) async throws {
        let limit = limit.map(String.init) ?? "unlimited"
        _ = try await Command.run("prlimit", ["--pid", String(processID), "--fsize=\(limit):unlimited"])
    }

    private func memoryInKibibytes(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(processID)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    private static func standardInput(_ input: Input) throws -> Any {
        switch input {
        case .nothing: FileHandle.nullDevice
        case .file(let url): try FileHandle(forReadingFrom: url)
        case .pipe(let pipe): pipe
        }
    }

    private static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { name, _ in
            !["SLUICE_", "PG", "DATABASE_URL", "KAFKA_BROKERS"].contains(where: name.hasPrefix)
        }
        // Several servers may run at one time.
        environment["SLUICE_ADMIN_LISTEN"] = "127.0.0.1:0"
        environment["SLUICE_LOG_FORMAT"] = "text"
        // The events of many tests have fixed times.
        environment["SLUICE_EVENTS_MAXIMUM_AGE_DAYS"] = "3650000"
        environment["SLUICE_EVENTS_MAXIMUM_LEAD_DAYS"] = "3650000"
        environment["SLUICE_POSTGRES_PARTITIONS"] = "none"
        return environment
    }

    /// The folder of the tests' executable, or of the bundle that contains it.
    static func executable(_ program: String = "sluice") throws -> URL {
        var folder = URL(fileURLWithPath: CommandLine.arguments[0])
        for _ in 0..<5 {
            folder.deleteLastPathComponent()
            let candidate = folder.appending(path: program)
            let attributes = try? FileManager.default.attributesOfItem(atPath: candidate.path)
            if attributes?[.type] as? FileAttributeType == .typeRegular { return candidate }
        }
        throw NotBuilt()
    }
}
