import Foundation
import ServerTestSupport
import Testing

/// A running `sluice serve`, and requests to it.
struct ServingSluice {
    /// The response to a request.
    struct Answer {
        let status: Int
        let body: String
    }

    let process: SluiceProcess
    let url: String

    /// Starts a server on a free port, and waits until it accepts events.
    static func start(
        _ arguments: String...,
        in folder: TestFolder,
        plan: String = Sluice.plan,
        environment: [String: String] = [:],
        stdout: Pipe = Pipe(),
        readsOutput: Bool = true
    ) async throws -> ServingSluice {
        try await start(
            arguments,
            in: folder,
            plan: plan,
            environment: environment,
            stdout: stdout,
            readsOutput: readsOutput
        )
    }

    /// Starts a server on a free port, and waits until it accepts events.
    static func start(
        _ arguments: [String],
        in folder: TestFolder,
        plan: String = Sluice.plan,
        environment: [String: String] = [:],
        stdout: Pipe = Pipe(),
        readsOutput: Bool = true
    ) async throws -> ServingSluice {
        let process = try SluiceProcess(
            ["serve", "--listen", "127.0.0.1:0", "--events", plan, "--format", "json"] + arguments,
            in: folder,
            environment: environment,
            stdout: stdout,
            readsOutput: readsOutput
        )
        let line = try await process.errors.line(containing: "The server accepts events.")
        let url = try #require(line.firstMatch(of: /url=(\S+)\/v1\/events/)?.1)
        return ServingSluice(process: process, url: String(url))
    }

    /// Sends a body, and returns the response.
    func post(_ body: String, type: String = "application/json", _ options: String...) async throws -> Answer {
        try await request("/v1/events", ["-H", "Content-Type: \(type)", "--data-binary", body] + options)
    }

    /// Sends a file, and returns the response.
    func post(file: String, _ options: String...) async throws -> Answer {
        let type = ["-H", "Content-Type: application/x-ndjson"]
        return try await request("/v1/events", type + ["--data-binary", "@\(file)"] + options)
    }

    /// Sends a request with curl.
    func request(_ path: String, _ options: [String] = []) async throws -> Answer {
        let result = try await Command.run("curl", ["-sS", "-w", "\n%{http_code}"] + options + [url + path])
        let parts = result.text.split(separator: "\n", omittingEmptySubsequences: false)
        return Answer(status: parts.last.flatMap { Int($0) } ?? 0, body: parts.dropLast().joined(separator: "\n"))
    }

    /// Polls `/readyz` until events are accepted; trackers may still be starting.
    func waitUntilReady() async throws {
        while try await request("/readyz").status != 200 { try await waitBriefly() }
    }
}
