import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Operations

/// A running `serve`, asked through its socket or its private port.
struct RunningProcess {
    /// How it is reached.
    enum EntryPoint {
        /// The path of its socket.
        case socket(String)
        /// The address of its private port, `host:port`, and the token, if it needs one.
        case port(String, token: String?)
    }

    private static let timeout = TimeAmount.seconds(10)
    private static let maximumAnswerBytes = 16 << 20

    private let entryPoint: EntryPoint

    init(_ entryPoint: EntryPoint) {
        self.entryPoint = entryPoint
    }

    /// What it does now.
    ///
    /// - Throws: exit status 1, with the reason printed, if it does not answer, or not with a status.
    func status() async throws -> StatusReport {
        try decode("its status", await send(.GET, "/v1/status"))
    }

    /// Whether it answers.
    var isRunning: Bool {
        get async {
            // The client would try again to connect to a socket that is not there.
            if case .socket(let path) = entryPoint, !FileManager.default.fileExists(atPath: path) { return false }
            guard let request = try? request(.GET, "/livez") else { return false }
            return (try? await HTTPClient.shared.execute(request, timeout: .seconds(2))) != nil
        }
    }

    /// Asks it to read its plan again.
    ///
    /// - Throws: exit status 1, with the reason printed, if it does not answer, or if the plan has problems.
    func reloadPlan() async throws -> PlanReload {
        try decode("what became of its plan", await send(.POST, "/v1/plan/reload"))
    }

    /// Asks it to change a setting.
    ///
    /// - Throws: exit status 1, with the reason printed, if it does not answer, or refuses.
    func setSetting(_ path: String) async throws -> SettingChange {
        try decode("the change", await send(.POST, path))
    }

    private func decode<Value: Decodable>(_ what: String, _ body: ByteBuffer) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(buffer: body))
        } catch {
            throw Terminal.failure("The process answers with something other than \(what); it may be another version.")
        }
    }

    /// Asks it to change something.
    ///
    /// - Throws: exit status 1, with the reason printed, if it does not answer, or refuses.
    func change(_ path: String) async throws {
        _ = try await send(.POST, path)
    }

    /// Reads server-sent events until the process ends the answer; `body` gets the field `event`, if there is one, and `data`.
    ///
    /// - Throws: exit status 1, with the reason printed, if the process does not answer, or refuses.
    func follow(_ path: String, _ body: (_ event: String?, _ data: String) throws -> Void) async throws {
        let response: HTTPClientResponse
        do {
            // No deadline: the process sends something every ten seconds.
            response = try await HTTPClient.shared.execute(request(.GET, path), deadline: .distantFuture)
        } catch {
            throw noAnswer(error)
        }
        guard response.status == .ok else {
            return try check(response.status, await response.body.collect(upTo: Self.maximumAnswerBytes))
        }
        var (buffer, event) = (ByteBuffer(), String?.none)
        do {
            for try await part in response.body {
                buffer.writeImmutableBuffer(part)
                while let length = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = buffer.readString(length: length - buffer.readerIndex) ?? ""
                    buffer.moveReaderIndex(forwardBy: 1)
                    if line.isEmpty { event = nil }
                    if line.hasPrefix("event: ") { event = String(line.dropFirst(7)) }
                    if line.hasPrefix("data: ") { try body(event, String(line.dropFirst(6))) }
                }
                buffer.discardReadBytes()
            }
        } catch let error as HTTPClientError {
            throw noAnswer(error)
        }
    }

    private func send(_ method: HTTPMethod, _ path: String) async throws -> ByteBuffer {
        let response: HTTPClientResponse
        let body: ByteBuffer
        do {
            response = try await HTTPClient.shared.execute(request(method, path), timeout: Self.timeout)
            body = try await response.body.collect(upTo: Self.maximumAnswerBytes)
        } catch {
            throw noAnswer(error)
        }
        try check(response.status, body)
        return body
    }

    private func request(_ method: HTTPMethod, _ path: String) throws -> HTTPClientRequest {
        var request = HTTPClientRequest(url: try url(path))
        request.method = method
        request.headers.add(name: "Sluice-User", value: NSUserName())
        if case .port(_, let token?) = entryPoint {
            request.headers.add(name: "Authorization", value: "Bearer \(token)")
        }
        return request
    }

    private func check(_ status: HTTPResponseStatus, _ body: ByteBuffer) throws {
        guard !(200..<300).contains(status.code) else { return }
        let reason = String(buffer: body).trimmingCharacters(in: .whitespacesAndNewlines)
        throw Terminal.failure(
            reason.isEmpty ? "The process answers with \(status.code)." : TerminalText(escapingLinesOf: reason)
        )
    }

    private func noAnswer(_ error: any Error) -> any Error {
        Terminal.failure("The process does not answer at \(place): \(String(describing: error))")
    }

    private func url(_ path: String) throws -> String {
        switch entryPoint {
        case .port(let address, _): return "http://\(address)\(path)"
        case .socket(let socket):
            guard let url = URL(httpURLWithSocketPath: socket, uri: path) else {
                throw Terminal.failure("'\(socket)' is not the path of a socket.")
            }
            return url.absoluteString
        }
    }

    private var place: TerminalText {
        switch entryPoint {
        case .socket(let path): "'\(path)'"
        case .port(let address, _): "\(address)"
        }
    }
}
