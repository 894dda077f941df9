import App
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Sluice

/// The service with a pipeline that a test provides.
enum TestApp {
    /// A logger that prints nothing, but has metadata, in which Hummingbird stores the request's id.
    static let logger = {
        var logger = Logger(label: "tests")
        logger.logLevel = .critical
        return logger
    }()

    static let order = #"{"restaurantId":"da-enzo","items":[{"dish":"Margherita","quantity":2}],"note":"no basil"}"#

    /// The header fields of a customer's request.
    static var customer: HTTPFields {
        var headers: HTTPFields = [.cookie: "session=s-1"]
        if let name = HTTPField.Name("X-User-Id") { headers[name] = "zoe" }
        return headers
    }

    /// Runs the service while `test` sends requests, then shuts it down gracefully.
    static func run<Result: Sendable>(
        _ pipeline: Pipeline,
        ledger: RevenueLedger = RevenueLedger(),
        _ test: @escaping @Sendable (any TestClientProtocol) async throws -> Result
    ) async throws -> Result {
        let router = buildRouter(pipeline: pipeline, ledger: ledger)
        return try await buildApplication(router: router, pipeline: pipeline, logger: logger).test(.router, test)
    }

    /// Runs `body` with a new folder.
    static func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
        let folder = URL.temporaryDirectory.appending(path: "hummingbird-app-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }
}

extension TestClientProtocol {
    func get(_ path: String) async throws -> TestResponse {
        try await execute(uri: path, method: .get)
    }

    func post(_ path: String, _ json: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        try await execute(uri: path, method: .post, headers: headers, body: ByteBuffer(string: json))
    }

    /// Orders two pizzas as the user Zoë, and returns the order's id.
    func placeOrder() async throws -> String {
        let response = try await post("/orders", TestApp.order, headers: TestApp.customer)
        return try response.json(Answer.self).id
    }
}

/// The parts of a response about an order.
struct Answer: Decodable {
    let id: String
}

extension TestResponse {
    var text: String { String(buffer: body) }

    func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
