import Foundation
import ServerTestSupport
import Testing

/// The private port of a running `sluice serve` or `sluice load`.
struct PrivatePort {
    /// `http://127.0.0.1:PORT`.
    let url: String

    /// Reads the address from the log.
    init(of server: ServingSluice) async throws { try await self.init(of: server.process) }

    /// Reads the address from the log.
    init(of process: SluiceProcess) async throws {
        let line = try await process.errors.line(containing: "The private port listens.")
        let address = try #require(line.firstMatch(of: /address=([\d.]+:\d+)/)?.1)
        url = "http://\(address)"
    }

    /// Sends a request with curl.
    func request(_ path: String, _ options: String...) async throws -> ServingSluice.Answer {
        let result = try await Command.run("curl", ["-sS", "-w", "\n%{http_code}"] + options + [url + path])
        let parts = result.text.split(separator: "\n", omittingEmptySubsequences: false)
        return .init(
            status: parts.last.flatMap { Int($0) } ?? 0,
            body: parts.dropLast().joined(separator: "\n")
        )
    }

    /// All series with their values, read by Prometheus' own client library.
    func metrics(in folder: TestFolder) async throws -> [String: Double] {
        let answer = try await request("/metrics")
        #expect(answer.status == 200)
        try folder.write(answer.body + "\n", to: "metrics.txt")
        let python = try ClientScript.program("python3")
        let script = RepositoryFile.url("Tests/Support/Clients/metrics.py").path
        let process = try SluiceProcess(
            [script],
            executable: python,
            in: folder,
            input: .file(folder.url.appending(path: "metrics.txt"))
        )
        let ending = try await process.waitForEnd()
        try #require(ending == .exit(0), "\(process.errors.lines.suffix(5))")
        return try JSONDecoder().decode(
            [String: Double].self,
            from: Data((process.output?.lines ?? []).joined().utf8)
        )
    }
}
