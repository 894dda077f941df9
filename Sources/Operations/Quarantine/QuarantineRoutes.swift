import Foundation
import HTTPTypes
import Hummingbird
import Logging

/// The path with which an operator has the events of the quarantine sent again that are valid now.
struct QuarantineRoutes: Sendable {
    let replay: any QuarantineReplaying
    let logger: Logger

    /// Adds the path to a router; `entryPoint` is that of its requests, for the log: the private port or the socket.
    func add(to router: Hummingbird.Router<OperationsContext>, entryPoint: String) {
        router.post("/v1/quarantine/replay") { request, _ in
            let query = request.uri.queryParameters
            func text(_ name: Substring) -> String? { query[name].flatMap { $0.isEmpty ? nil : String($0) } }
            let selection = QuarantineReplaySelection(event: text("event"), code: text("code"))
            return try await answer(selection, Asker(request, entryPoint).metadata)
        }
    }

    private func answer(_ selection: QuarantineReplaySelection, _ asker: Logger.Metadata) async throws -> Response {
        var facts = asker
        if let event = selection.event { facts["event"] = "\(event)" }
        if let code = selection.code { facts["code"] = "\(code)" }
        do throws(QuarantineReplayFailure) {
            let report = try await replay.replay(selection)
            facts["sent"] = "\(report.sent)"
            facts["stillInvalid"] = "\(report.stillInvalid)"
            if !report.failures.isEmpty { facts["unreadable"] = .array(report.failures.map { "\($0)" }) }
            logger.notice("Quarantined events were tried again.", metadata: facts)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let text = try? String(decoding: encoder.encode(report), as: UTF8.self)
            return .text((text ?? "") + "\n", contentType: "application/json")
        } catch {
            if error.kind != .invalidSelection {
                facts["sent"] = "\(error.sent)"
                facts["error"] = "\(error.sentence)"
                logger.warning("Quarantined events could not be tried again.", metadata: facts)
            }
            return .text(error.sentence + "\n", status: Self.status(of: error.kind))
        }
    }

    private static func status(of kind: QuarantineReplayFailure.Kind) -> HTTPResponse.Status {
        switch kind {
        case .invalidSelection: .badRequest
        case .busy: .conflict
        case .unavailable: .serviceUnavailable
        }
    }
}
