import Foundation
import Synchronization

/// A child process.
final class Child: Sendable {
    private let process: Process
    private let output: Pipe
    private let input: Pipe

    private static let running = Mutex<[Int32: Child]>([:])

    /// Starts a program, which inherits this program's standard error and its environment, with the given variables.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process = Process()
        output = Pipe()
        input = Pipe()
        process.executableURL = URL(fileURLWithPath: try Self.path(of: program))
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        Self.running.withLock { $0[process.processIdentifier] = self }
    }

    /// The process id.
    var pid: Int32 { process.processIdentifier }

    /// Runs a program until it ends, and returns its output.
    @discardableResult
    static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> String {
        let child = try Child(program, arguments, environment: environment)
        let text = child.rest()
        guard child.wait() == 0 else {
            throw BenchmarkError("\(program) \(arguments.joined(separator: " ")) failed")
        }
        return text
    }

    /// Terminates all children that are still running.
    static func terminateAll() {
        for child in running.withLock({ Array($0.values) }) {
            child.process.terminate()
        }
    }

    /// Waits until a process on this machine listens on a port.
    func waitUntilListening(at port: Int) throws {
        for _ in 0..<200 {
            guard process.isRunning else { break }
            if isListening(at: port) { return }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw BenchmarkError("\(process.executableURL?.lastPathComponent ?? "the server") does not listen at \(port)")
    }

    /// The peak memory of the process so far, in MB.
    func peakMemory() throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let kilobytes = line?.split(separator: " ").compactMap({ Double($0) }).first else {
            throw BenchmarkError("the system does not tell the memory of process \(pid)")
        }
        return kilobytes * 1024 / 1_000_000
    }

    /// The processor time that the process and its children have used so far.
    ///
    /// They share a process group that contains no other process.
    func processorSeconds() throws -> Double {
        let ticks = try FileManager.default.contentsOfDirectory(atPath: "/proc")
            .filter { $0.allSatisfy(\.isNumber) }
            .compactMap { try? String(contentsOfFile: "/proc/\($0)/stat", encoding: .utf8) }
            .compactMap(Self.ticks(of:))
            .filter { $0.group == pid }
            .reduce(0) { $0 + $1.ticks }
        guard ticks > 0 else { throw BenchmarkError("the system does not tell the processor time of process \(pid)") }
        return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Parses the process group and the time in user and kernel mode from `/proc/PID/stat`.
    private static func ticks(of stat: String) -> (group: Int32, ticks: Double)? {
        // The name of the program, which may contain anything, ends with the last parenthesis.
        guard let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        guard fields.count > 12, let group = Int32(fields[2]), let user = Double(fields[11]),
            let system = Double(fields[12])
        else { return nil }
        return (group, user + system)
    }

    /// Reads the first line of the output.
    func firstLine() throws -> String {
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), let first = byte.first {
            if first == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(first)
        }
        throw BenchmarkError("\(process.executableURL?.lastPathComponent ?? "a program") ended without a word")
    }

    /// Asks the process to end, and returns its output.
    @discardableResult
    func stop() throws -> String {
        try? input.fileHandleForWriting.close()
        process.terminate()
        let text = rest()
        _ = wait()
        return text
    }

    private func rest() -> String {
        String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    private func wait() -> Int32 {
        process.waitUntilExit()
        _ = Self.running.withLock { $0.removeValue(forKey: process.processIdentifier) }
        return process.terminationStatus
    }

    private static func path(of program: String) throws -> String {
        if program.contains("/") { return program }
        let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
        // Debian installs nginx in a folder that is only on root's PATH.
        for folder in folders + ["/usr/sbin"] where FileManager.default.isExecutableFile(atPath: "\(folder)/\(program)")
        {
            return "\(folder)/\(program)"
        }
        throw BenchmarkError("there is no \(program) here. Run: make setup-bench")
    }
}

private func isListening(at port: Int) -> Bool {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
}
