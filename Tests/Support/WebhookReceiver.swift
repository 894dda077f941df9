import Foundation
import Synchronization

/// A server for webhooks, written in Python, that belongs to this process; it ends with the value.
package final class WebhookReceiver: Sendable {
    /// A request that it took.
    package struct Request: Decodable, Sendable {
        package let method: String
        package let path: String
        /// The fields of the header, by their names in lower case.
        package let headers: [String: String]
        /// The body, inflated.
        package let body: String
    }

    /// The files that a server with TLS needs; with `clientAuthority`, clients need a certificate.
    package struct TLS: Sendable {
        let certificate: String
        let privateKey: String
        let clientAuthority: String?

        package init(certificate: String, privateKey: String, clientAuthority: String? = nil) {
            self.certificate = certificate
            self.privateKey = privateKey
            self.clientAuthority = clientAuthority
        }
    }

    private struct Running {
        let process: Process
        let input: Pipe
        let port: Int
    }

    private let folder: URL
    private let tls: TLS?
    private let running: Mutex<Running>

    /// Starts it; it takes all requests.
    package init(tls: TLS? = nil) async throws {
        self.tls = tls
        folder = FileManager.default.temporaryDirectory.appending(path: "sluice-receiver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try Data("ok".utf8).write(to: folder.appending(path: "mode"))
        running = Mutex(try await Self.start(in: folder, port: 0, tls))
    }

    deinit {
        running.withLock { Self.end($0) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Its address.
    package var url: String {
        "\(tls == nil ? "http" : "https")://127.0.0.1:\(running.withLock { $0.port })"
    }

    /// Changes what it does with further requests; `receiver.py` describes the modes.
    package func setMode(_ mode: String) throws {
        try Data(mode.utf8).write(to: folder.appending(path: "mode"), options: .atomic)
    }

    /// Ends it; connections are refused from now on.
    package func stop() {
        running.withLock { Self.end($0) }
    }

    /// Starts it again at the same port.
    package func restart() async throws {
        let port = running.withLock { $0.port }
        let next = try await Self.start(in: folder, port: port, tls)
        running.withLock { $0 = next }
    }

    /// The file with the requests that it took, each as a line of JSON.
    package var requestsFile: String { folder.appending(path: "requests").path }

    /// The requests that it took, in order.
    package var requests: [Request] {
        get throws {
            let lines = FileManager.default.contents(atPath: requestsFile) ?? Data()
            return try lines.split(separator: UInt8(ascii: "\n")).map {
                try JSONDecoder().decode(Request.self, from: $0)
            }
        }
    }

    /// The tests ignore SIGTERM, and so does what they start.
    private static func end(_ running: Running) {
        kill(running.process.processIdentifier, SIGKILL)
        running.process.waitUntilExit()
    }

    private static func start(in folder: URL, port: Int, _ tls: TLS?) async throws -> Running {
        let process = Process()
        let (input, output) = (Pipe(), Pipe())
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Clients/receiver.py")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            ["python3", script.path, folder.path, "\(port)"]
            + (tls.map { [$0.certificate, $0.privateKey] + ($0.clientAuthority.map { [$0] } ?? []) } ?? [])
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let line = await onBlockingThread {
            var line = Data()
            while line.last != UInt8(ascii: "\n") {
                let piece = output.fileHandleForReading.availableData
                if piece.isEmpty { break }
                line += piece
            }
            return String(decoding: line.dropLast(), as: UTF8.self)
        }
        guard let port = Int(line) else { throw CocoaError(.executableLoad) }
        return Running(process: process, input: input, port: port)
    }
}
