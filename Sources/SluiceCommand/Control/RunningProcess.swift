import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import Operations

/// A running `serve`, asked through its socket or its private port.
struct RunningProcess {
    /// How it is reached.
    enum Door {
        /// The path of its socket.
        case socket(String)
        /// The address of its private port, `host:port`, and the token, if it needs one.
        case port(String, token: String?)
    }

    private static let timeout = TimeAmount.seconds(10)
    private static let maximumAnswerBytes = 16 << 20

    private let door: Door

    init(_ door: Door) {
        self.door = door
    }

    /// What it does now.
    ///
    /// - Throws: exit status 1, with the reason printed, if it does not answer, or not with a status.
    func status() async throws -> StatusReport {
        let body = try await send(.GET, "/v1/status")
        do {
            return try JSONDecoder().decode(StatusReport.self, from: Data(buffer: body))
        } catch {
            throw Terminal.failure(
                "The process answers with something other than its status; it may be another version."
            )
        }
    }

    /// Asks it to change something.
    ///
    /// - Throws: exit status 1, with the reason printed, if it does not answer, or refuses.
    func change(_ path: String) async throws {
        _ = try await send(.POST, path)
    }

    private func send(_ method: HTTPMethod, _ path: String) async throws -> ByteBuffer {
        var request = HTTPClientRequest(url: try url(path))
        request.method = method
        request.headers.add(name: "Sluice-User", value: NSUserName())
        if case .port(_, let token?) = door { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        let response: HTTPClientResponse
        let body: ByteBuffer
        do {
            response = try await HTTPClient.shared.execute(request, timeout: Self.timeout)
            body = try await response.body.collect(upTo: Self.maximumAnswerBytes)
        } catch {
            throw Terminal.failure("The process does not answer at \(place): \(String(describing: error))")
        }
        guard (200..<300).contains(response.status.code) else {
            let reason = String(buffer: body).trimmingCharacters(in: .whitespacesAndNewlines)
            throw Terminal.failure(reason.isEmpty ? "The process answers with \(response.status.code)." : "\(reason)")
        }
        return body
    }

    private func url(_ path: String) throws -> String {
        switch door {
        case .port(let address, _): return "http://\(address)\(path)"
        case .socket(let socket):
            guard let url = URL(httpURLWithSocketPath: socket, uri: path) else {
                throw Terminal.failure("'\(socket)' is not the path of a socket.")
            }
            return url.absoluteString
        }
    }

    private var place: TerminalText {
        switch door {
        case .socket(let path): "'\(path)'"
        case .port(let address, _): "\(address)"
        }
    }
}
