import Foundation

/// Complete requests with several keys, in several formats, half of them compressed.
struct MixedRequests {
    static let keys = (1...20).map { "the-key-of-application-\($0)" }
    /// The number of events of a request; one of them is invalid.
    static let events = 20
    /// A multiple of the number of combinations of key, format and compression.
    private static let count = 600

    private let material: Material
    private let folder: String

    /// Prepares the requests from the events of the benchmark.
    init(at site: Site) throws {
        material = try Material(at: site)
        folder = site.scratch + "/mixed"
    }

    /// Writes a file of the requests, each after a line with its size in bytes, and returns its path.
    func write() throws -> String {
        let path = "\(folder)/requests"
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let bodies = try Format.allCases.map { format in try self.bodies(in: format) }
        var compressed: [String] = []
        for number in 0..<Self.count {
            let body = bodies[number % bodies.count][number / bodies.count]
            try Data(body.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(number)"))
            if isCompressed(number) { compressed.append("\(folder)/\(number)") }
        }
        try Child.run("gzip", ["-f"] + compressed)
        var requests = Data()
        for number in 0..<Self.count {
            let request = try request(number)
            requests.append(Data("\(request.count)\n".utf8) + request)
        }
        try requests.write(to: URL(fileURLWithPath: path))
        return path
    }

    private func isCompressed(_ number: Int) -> Bool {
        number / (Self.keys.count * Format.allCases.count) % 2 == 0
    }

    private func request(_ number: Int) throws -> Data {
        let format = Format.allCases[number % Format.allCases.count]
        let suffix = isCompressed(number) ? ".gz" : ""
        let body = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(number)\(suffix)"))
        let fields =
            [
                "POST \(format.path) HTTP/1.1", "Host: 127.0.0.1", "Content-Type: \(format.contentType)",
                "Authorization: \(format.authorization(with: Self.keys[number % Self.keys.count]))",
                "Content-Length: \(body.count)",
            ] + (isCompressed(number) ? ["Content-Encoding: gzip"] : [])
        return Data((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }

    /// The bodies of all requests in a format.
    private func bodies(in format: Format) throws -> [String] {
        let count = Self.count / Format.allCases.count
        let file =
            switch format {
            case .own: try material.withContext(count: 100_000)
            case .segment: try material.segment(count: 100_000)
            case .cloudEvents: try material.uniform(count: 100_000)
            }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").prefix(count * Self.events)
        return (0..<count).map { body in
            let some = lines.dropFirst(body * Self.events).prefix(Self.events).enumerated().map { number, line in
                var text = String(line)
                if number == 7 { text = text.replacing(#""quantity":"#, with: #""quantity":-"#) }
                return format == .cloudEvents ? Self.cloudEvent(text, id: body * Self.events + number) : text
            }
            return format.body(of: some)
        }
    }

    private static func cloudEvent(_ line: String, id: Int) -> String {
        line.replacing(#"{"name":"#, with: #"{"specversion":"1.0","source":"/shop","id":"\#(id)","type":"#)
            .replacing(#""userId":"#, with: #""subject":"#)
            .replacing(#""payload":"#, with: #""data":"#)
    }

    private enum Format: CaseIterable {
        case own, segment, cloudEvents

        var path: String { self == .segment ? "/v1/batch" : "/v1/events" }

        var contentType: String {
            switch self {
            case .own: "application/x-ndjson"
            case .segment: "application/json"
            case .cloudEvents: "application/cloudevents-batch+json"
            }
        }

        func authorization(with key: String) -> String {
            self == .segment ? "Basic \(Data("\(key):".utf8).base64EncodedString())" : "Bearer \(key)"
        }

        func body(of events: [String]) -> String {
            switch self {
            case .own: events.joined(separator: "\n") + "\n"
            case .segment: #"{"batch":[\#(events.joined(separator: ","))]}"#
            case .cloudEvents: "[\(events.joined(separator: ","))]"
            }
        }
    }
}
