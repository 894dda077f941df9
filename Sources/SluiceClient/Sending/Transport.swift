import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends a batch to the server.
package protocol Transport: Sendable {
    /// Sends lines of events, and returns the server's answer.
    ///
    /// - Throws: Any error, if there is no answer; then it is unknown whether the server has the events.
    func send(_ lines: [UInt8]) async throws -> TransportAnswer
}

/// The parts of an answer that matter to the client.
package struct TransportAnswer: Sendable {
    package let status: Int
    /// The value of `Retry-After`.
    package let retryAfter: String?
    package let body: [UInt8]

    package init(status: Int, retryAfter: String? = nil, body: [UInt8] = []) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// HTTP by the system's library.
struct URLSessionTransport: Transport {
    private let url: URL
    private let key: String?
    private let session: URLSession

    init(url: URL, key: String?, timeout: Duration) {
        self.url = url.appending(path: "v1/events")
        self.key = key
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = TimeInterval(timeout.components.seconds)
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        session = URLSession(configuration: configuration)
    }

    func send(_ lines: [UInt8]) async throws -> TransportAnswer {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-ndjson", forHTTPHeaderField: "Content-Type")
        if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let (body, response) = try await session.upload(for: request, from: Data(lines))
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return TransportAnswer(
            status: response.statusCode,
            retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
            body: Array(body)
        )
    }
}
