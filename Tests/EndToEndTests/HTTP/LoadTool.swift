import Foundation
import ServerTestSupport
import SluiceHTTP
import Testing

/// The load generators `wrk` and `h2load`, and `slowhttptest`, which sends slowly over many connections.
enum LoadTool {
    /// What a run of `wrk` counted.
    struct Count {
        /// The requests that were answered with 2xx.
        let succeeded: Int
        /// The requests that were answered with another status.
        let refused: Int
    }

    /// Sends single events with `wrk` for two seconds, over as many connections at a time.
    static func wrk(_ server: TestServer, connections: Int, in folder: TestFolder) async throws -> Count {
        let script = folder.url.appending(path: "post.lua")
        let lines = [
            #"wrk.method = "POST""#, #"wrk.headers["Content-Type"] = "application/json""#,
            "wrk.body = [[\(Requests.ping)]]",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: script)
        let arguments = [
            "-t", "1", "-c", String(connections), "-d", "2s", "-s", script.path, "http://\(server.address)/v1/events",
        ]
        let text = try await Command.run("wrk", arguments).text
        let all = try #require(text.firstMatch(of: #/(\d+) requests in/#)).output.1
        let refused = text.firstMatch(of: #/Non-2xx or 3xx responses: (\d+)/#)?.output.1
        let refusedCount = refused.flatMap { Int($0) } ?? 0
        return Count(succeeded: try #require(Int(all)) - refusedCount, refused: refusedCount)
    }

    /// Starts `h2load`, which sends single events over HTTP/2.
    static func h2load(_ server: TestServer, _ arguments: [String], in folder: TestFolder) throws -> SluiceProcess {
        let body = folder.url.appending(path: "body.json")
        try Data(Requests.ping.utf8).write(to: body)
        let common = ["h2load", "-d", body.path, "-H", "content-type: application/json"]
        return try SluiceProcess(
            common + arguments + ["https://\(server.address)/v1/events"],
            executable: URL(filePath: "/usr/bin/env"),
            in: folder
        )
    }

    /// The number of requests that `h2load` believes were answered with 2xx, once it has ended; no other may be without an end.
    static func answers(of load: SluiceProcess) async throws -> Int {
        _ = try await load.waitForEnd()
        let text = load.output?.text ?? ""
        let requests = try #require(text.firstMatch(of: #/(\d+) started, (\d+) done/#), "\(text)")
        #expect(requests.output.1 == requests.output.2, "a connection ended before its requests")
        let match = text.firstMatch(of: #/status codes: (\d+) 2xx, 0 3xx, 0 4xx, 0 5xx/#)
        return try #require(match.flatMap { Int($0.output.1) }, "\(text)")
    }

    /// Starts `slowhttptest` with 60 connections.
    static func slow(_ server: TestServer, _ arguments: [String], in folder: TestFolder) throws -> SluiceProcess {
        let common = ["slowhttptest", "-c", "60", "-r", "60", "-i", "1", "-p", "5", "-l", "60"]
        return try SluiceProcess(
            common + arguments + ["-u", "http://\(server.address)/v1/events"],
            executable: URL(filePath: "/usr/bin/env"),
            in: folder
        )
    }
}
