import EventPipeline
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The paths with which an operator, or a command, changes what the pipeline does.
struct ControlRoutes: Sendable {
    let pipeline: any OperatedPipeline
    /// `nil` if changes do not survive a restart.
    let file: ControlFile?
    /// `nil` if the plan cannot be reloaded.
    let planReloader: (any PlanReloader)?
    let logger: Logger

    /// Why the plan's files are not what is in use; `nil` if they are.
    var planProblem: String? { planReloader?.problem }

    /// Adds the paths to a router.
    ///
    /// - Parameter door: Through what the requests come, for the log.
    func add(to router: Hummingbird.Router<OperationsContext>, door: String) {
        router.post("/v1/trackers/:name/pause") { request, context in
            try await setPaused(true, context, Asker.metadata(of: request, door))
        }
        router.post("/v1/trackers/:name/resume") { request, context in
            try await setPaused(false, context, Asker.metadata(of: request, door))
        }
        router.post("/v1/plan/reload") { request, _ in try await reloadPlan(Asker.metadata(of: request, door)) }
        router.post("/v1/intake/close") { request, _ in
            setIntake(open: false, Asker.metadata(of: request, door))
        }
        router.post("/v1/intake/open") { request, _ in setIntake(open: true, Asker.metadata(of: request, door)) }
    }

    private func setPaused(
        _ isPaused: Bool,
        _ context: OperationsContext,
        _ asker: Logger.Metadata
    ) async throws -> Response {
        let name = context.parameters.get("name")?.removingPercentEncoding ?? ""
        let isForgotten = !isPaused && file?.pausedTrackers.contains(name.lowercased()) ?? false
        guard isForgotten || pipeline.statistics[tracker: name] != nil else {
            let names = pipeline.statistics.trackers.map(\.name).joined(separator: ", ")
            return .text("There is no tracker of this name; there are: \(names).\n", status: .notFound)
        }
        let change: @Sendable () -> Void = { [pipeline] in
            _ = isPaused ? pipeline.pause(tracker: name) : pipeline.resume(tracker: name)
        }
        do {
            if let file { try await file.setPaused(isPaused, tracker: name, then: change) } else { change() }
        } catch {
            logger.error("A change could not be stored, so it was not made.", metadata: ["error": "\(error)"])
            return .text("The change could not be stored, so it was not made: \(error)\n", status: .internalServerError)
        }
        logger.notice(
            isPaused ? "The tracker was paused; its events wait." : "The tracker was resumed.",
            metadata: asker.merging(["tracker": "\(name)"]) { $1 }
        )
        return Response(status: .noContent)
    }

    private func reloadPlan(_ asker: Logger.Metadata) async throws -> Response {
        guard let planReloader else {
            return .text("The plan of this process cannot be reloaded.\n", status: .notFound)
        }
        let reload = await planReloader.reload(askedBy: asker)
        guard reload.outcome != .refused else {
            let lines = ["The plan was not replaced; the earlier one stays in use."] + reload.lines
            return .text(lines.map { $0 + "\n" }.joined(), status: .unprocessableContent)
        }
        return .text(try reload.jsonLine + "\n", contentType: "application/json")
    }

    private func setIntake(open: Bool, _ asker: Logger.Metadata) -> Response {
        pipeline.setAcceptsEvents(open)
        logger.notice(
            open ? "The intake was opened." : "The intake was closed; no events are accepted.",
            metadata: asker
        )
        return Response(status: .noContent)
    }
}
