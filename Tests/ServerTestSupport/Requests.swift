import Foundation

/// The text of the requests that the tests send.
package enum Requests {
    package static let ping = #"{"name":"Ping"}"#
    package static let accepted = #"{"accepted":1,"rejected":[]}"#

    /// A POST of events with a Content-Length.
    package static func post(
        _ body: String = ping,
        type: String = "application/json",
        fields: String = "",
        version: String = "1.1"
    ) -> String {
        head(fields: "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n" + fields, version: version)
            + body
    }

    /// A POST of events in chunks.
    package static func chunked(_ pieces: [String], fields: String = "", trailers: String = "") -> String {
        let chunks = pieces.map { "\(String($0.utf8.count, radix: 16));note=\"x\"\r\n\($0)\r\n" }.joined()
        return head(fields: "Transfer-Encoding: chunked\r\n" + fields) + chunks + "0\r\n\(trailers)\r\n"
    }

    /// The header of a POST of events.
    package static func head(fields: String, version: String = "1.1") -> String {
        "POST /v1/events HTTP/\(version)\r\nHost: sluice\r\n\(fields)\r\n"
    }

    /// A request without a body.
    package static func plain(_ method: String, _ target: String, fields: String = "") -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: sluice\r\n\(fields)\r\n"
    }

    /// The output of the `gzip` command for the text.
    package static func gzip(_ text: String) async throws -> [UInt8] { try await gzip(Array(text.utf8)) }

    /// The output of the `gzip` command for the bytes.
    package static func gzip(_ bytes: [UInt8]) async throws -> [UInt8] {
        let file = FileManager.default.temporaryDirectory.appending(path: "sluice-http-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await Command.run("gzip", ["-c", file.path]).output
    }
}
