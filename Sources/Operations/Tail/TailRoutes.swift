import EventModel
import EventPipeline
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Events as they pass, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
struct TailRoutes: Sendable {
    /// How often something is sent if nothing happens, so that a lost connection is noticed.
    private static let heartbeat = Duration.seconds(10)

    let pipeline: any OperatedPipeline
    let clock: RelativeClock
    /// `nil` for the socket.
    let access: AccessControl?

    func add(to router: Hummingbird.Router<OperationsContext>) {
        router.get("/v1/tail") { request, _ in
            let query = request.uri.queryParameters
            func text(_ name: Substring) -> String? { query[name].flatMap { $0.isEmpty ? nil : String($0) } }
            var filter = Pipeline.WatchFilter(event: text("event"), tracker: text("tracker"), user: text("user"))
            if let verdict = text("verdict") {
                guard let verdict = Pipeline.WatchFilter.Verdict(rawValue: verdict) else {
                    return Response.text("'verdict' is 'accepted' or 'rejected'.\n", status: .badRequest)
                }
                filter.verdict = verdict
            }
            guard let watch = pipeline.watch(filter) else {
                return Response.text("Too many others watch already.\n", status: .serviceUnavailable)
            }
            let isAllowed: @Sendable () -> Bool = if let access { access.stillAllows(request) } else { { true } }
            return answer(watch, isAllowed: isAllowed)
        }
    }

    /// Lasts until the client goes away, its session ends, or the process is shut down.
    private func answer(_ watch: Pipeline.Watch, isAllowed: @escaping @Sendable () -> Bool) -> Response {
        // Sends the headers at once.
        watch.wake()
        // A loop of its own, because an answer is not a task group; it ends with the watch, which the answer holds.
        Task { [weak watch, clock] in
            while watch != nil, (try? await clock.sleepUntil(clock.now() + Self.heartbeat)) != nil { watch?.wake() }
        }
        let body = ResponseBody { writer in
            defer { watch.end() }
            try await withGracefulShutdownHandler {
                // What wakes it when no events come is the heartbeat.
                while let item = await watch.next(), isAllowed() { try await writer.write(Self.message(item)) }
            } onGracefulShutdown: {
                watch.end()
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    private static func message(_ item: Pipeline.WatchedItem) -> ByteBuffer {
        switch item {
        case .missed(0): return ByteBuffer(string: ": nothing\n\n")
        case .missed(let count): return ByteBuffer(string: "event: missed\ndata: \(count)\n\n")
        case .event(let line):
            var buffer = ByteBuffer(string: "data: ")
            buffer.writeBytes(line)
            buffer.writeString("\n\n")
            return buffer
        }
    }
}
