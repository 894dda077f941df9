import Foundation
import ServerTestSupport
import Testing

@Suite("The log of serve", .timeLimit(.minutes(2)))
struct LogFormatTests {
    @Test("is an object on each line if asked for, or if nobody reads it on a terminal", arguments: ["json", "auto"])
    func json(format: String) async throws {
        let folder = try TestFolder()
        let process = try SluiceProcess(
            ["serve", "--listen", "127.0.0.1:0", "--events", Sluice.plan, "--log-format", format],
            in: folder
        )
        _ = try await process.errors.line(containing: "The server accepts events.")
        process.send(SIGTERM)
        #expect(try await process.waitForEnd() == .exit(0))
        // The last line is the command's own, and no log line.
        let lines = process.errors.lines.dropLast()
        #expect(lines.count >= 5)
        for line in lines {
            let fact = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            for key in ["time", "level", "logger", "message"] { #expect(fact[key]?.isEmpty == false, "\(line)") }
            // The texts are stable: figures and names are in the metadata.
            #expect(fact["message"]?.contains { $0.isNumber } == false, "\(line)")
        }
        let accepts = try #require(lines.first { $0.contains("The server accepts events.") })
        let fact = try JSONDecoder().decode([String: String].self, from: Data(accepts.utf8))
        #expect(fact["level"] == "info")
        #expect(fact["url"]?.hasPrefix("http://127.0.0.1:") == true)
        #expect(fact["time"]?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil)
    }
}
