import Foundation
import Synchronization

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
final class URLSessionTransport: Transport {
    private let url: URL
    private let key: String?
    private let session: URLSession
    private let answers = AnswerReader()

    init(url: URL, key: String?, timeout: Duration) {
        self.url = url.appending(path: "v1/events")
        self.key = key
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = TimeInterval(timeout.components.seconds)
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
    }

    deinit {
        // Until then the session keeps its delegate.
        session.invalidateAndCancel()
    }

    func send(_ lines: [UInt8]) async throws -> TransportAnswer {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/x-ndjson", forHTTPHeaderField: "Content-Type")
        if let key { request.setValue("Bearer \(key)", forHTTPHeaderField: "Authorization") }
        let task = session.uploadTask(with: request, from: Data(lines))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                answers.expect(task, continuation)
                task.resume()
            }
        } onCancel: {
            task.cancel()
        }
    }
}

/// Collects the answers of a session, keeps of each no more than a server of Sluice ever sends, and cancels what is longer.
private final class AnswerReader: NSObject, URLSessionDataDelegate {
    /// The maximum size of an answer's body, four times the server's default limit.
    private static let maximumBytes = 1 << 20

    private struct Expected {
        let continuation: CheckedContinuation<TransportAnswer, any Error>
        var body = Data()
    }

    /// The requests under way, by the number of their task.
    private let expected = Mutex<[Int: Expected]>([:])

    /// Resumes the continuation with the answer to the task.
    func expect(_ task: URLSessionTask, _ continuation: CheckedContinuation<TransportAnswer, any Error>) {
        expected.withLock { $0[task.taskIdentifier] = Expected(continuation: continuation) }
    }

    /// Follows no redirection: the key and the events are for the configured server alone.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLong = expected.withLock { expected in
            let before = expected[dataTask.taskIdentifier]?.body.count ?? 0
            guard before + data.count <= Self.maximumBytes else { return true }
            expected[dataTask.taskIdentifier]?.body.append(data)
            return false
        }
        if isTooLong { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let expected = expected.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        guard error == nil, let response = task.response as? HTTPURLResponse else {
            return expected.continuation.resume(throwing: error ?? URLError(.badServerResponse))
        }
        expected.continuation.resume(
            returning: TransportAnswer(
                status: response.statusCode,
                retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
                body: Array(expected.body)
            )
        )
    }
}
