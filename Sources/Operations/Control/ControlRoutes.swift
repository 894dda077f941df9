import EventPipeline
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// The paths with which an operator, or a command, changes what the pipeline does.
struct ControlRoutes: Sendable {
    let pipeline: any OperatedPipeline
    let file: ControlFile
    /// `nil` if no setting can be changed.
    let settingChanges: SettingChanges?
    /// `nil` if the plan cannot be reloaded.
    let planReloader: (any PlanReloader)?
    let logger: Logger

    /// Why the plan's files are not what is in use; `nil` if they are.
    var planProblem: String? { planReloader?.problem }

    /// Adds the paths to a router; `entryPoint` is that of its requests, for the log: the private port or the socket.
    func add(to router: Hummingbird.Router<OperationsContext>, entryPoint: String) {
        router.post("/v1/trackers/:name/pause") { request, context in
            try await setPaused(true, context, Asker(request, entryPoint))
        }
        router.post("/v1/trackers/:name/resume") { request, context in
            try await setPaused(false, context, Asker(request, entryPoint))
        }
        router.post("/v1/plan/reload") { request, _ in try await reloadPlan(Asker(request, entryPoint)) }
        router.get("/v1/settings") { _, _ in
            let list = SettingList(
                changeable: settingChanges?.changeableNames ?? [],
                changed: settingChanges?.current ?? []
            )
            return Response.text(try list.jsonLine + "\n", contentType: "application/json")
        }
        router.post("/v1/settings/:name/set") { request, context in
            try await changeSetting(context) { name, changes in
                let query = request.uri.queryParameters
                guard let value = query["value"], let duration = query["for"].flatMap({ SettingDuration(String($0)) })
                else {
                    let sentence = "A change needs 'value', and in 'for' \(SettingDuration.expectation)."
                    throw SettingRefusal(.invalidValue, sentence)
                }
                let asker = Asker(request, entryPoint)
                let change = try await changes.set(name, to: String(value), for: duration, askedBy: asker)
                return .text(try change.jsonLine + "\n", contentType: "application/json")
            }
        }
        router.post("/v1/settings/:name/undo") { request, context in
            try await changeSetting(context) { name, changes in
                try await changes.undo(name, askedBy: Asker(request, entryPoint))
                return Response(status: .noContent)
            }
        }
        router.post("/v1/intake/close") { request, _ in
            setIntake(open: false, Asker(request, entryPoint))
        }
        router.post("/v1/intake/open") { request, _ in setIntake(open: true, Asker(request, entryPoint)) }
    }

    private func setPaused(
        _ isPaused: Bool,
        _ context: OperationsContext,
        _ asker: Asker
    ) async throws -> Response {
        let name = context.parameters.get("name")?.removingPercentEncoding ?? ""
        let isForgotten = !isPaused && file.contents.pausedTrackers.contains(name.lowercased())
        guard isForgotten || pipeline.statistics[tracker: name] != nil else {
            let names = pipeline.statistics.trackers.map(\.name).joined(separator: ", ")
            return .text("There is no tracker of this name; there are: \(names).\n", status: .notFound)
        }
        do {
            try await file.change { [pipeline] contents in
                if isPaused {
                    contents.pausedTrackers.insert(name.lowercased())
                } else {
                    contents.pausedTrackers.remove(name.lowercased())
                }
                return { _ = isPaused ? pipeline.pause(tracker: name) : pipeline.resume(tracker: name) }
            }
        } catch {
            return notStored(error)
        }
        logger.notice(
            isPaused ? "The tracker was paused; its events wait." : "The tracker was resumed.",
            metadata: asker.metadata.merging(["tracker": "\(pipeline.statistics[tracker: name]?.name ?? name)"]) { $1 }
        )
        return Response(status: .noContent)
    }

    private func changeSetting(
        _ context: OperationsContext,
        _ change: (_ name: String, SettingChanges) async throws -> Response
    ) async throws -> Response {
        guard let settingChanges else {
            return .text("The settings of this process cannot be changed.\n", status: .notFound)
        }
        do {
            return try await change(context.parameters.get("name")?.removingPercentEncoding ?? "", settingChanges)
        } catch let error as SettingRefusal {
            let status: HTTPResponse.Status = error.kind == .invalidValue ? .badRequest : .notFound
            return .text(error.sentence + "\n", status: status)
        } catch {
            return notStored(error)
        }
    }

    private func notStored(_ error: any Error) -> Response {
        logger.error("A change could not be stored, so it was not made.", metadata: ["error": "\(error)"])
        return .text("The change could not be stored, so it was not made: \(error)\n", status: .internalServerError)
    }

    private func reloadPlan(_ asker: Asker) async throws -> Response {
        guard let planReloader else {
            return .text("The plan of this process cannot be reloaded.\n", status: .notFound)
        }
        let reload = await planReloader.reload(askedBy: asker.metadata)
        guard reload.outcome != .refused else {
            let lines = ["The plan was not replaced; the earlier one stays in use."] + reload.lines
            return .text(lines.map { $0 + "\n" }.joined(), status: .unprocessableContent)
        }
        return .text(try reload.jsonLine + "\n", contentType: "application/json")
    }

    private func setIntake(open: Bool, _ asker: Asker) -> Response {
        pipeline.setAcceptsEvents(open)
        logger.notice(
            open ? "The intake was opened." : "The intake was closed; no events are accepted.",
            metadata: asker.metadata
        )
        return Response(status: .noContent)
    }
}

/// The settings that can be changed, and the changes in effect.
private struct SettingList: Encodable {
    let changeable: [String]
    let changed: [SettingChange]
}
