import EventPipeline
import HTTPTypes
import Hummingbird

/// States once who asks and in which request; every event that is tracked while it is answered carries it.
struct EventContextMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let who = EventContext(
            // The gateway before this service knows who it is; do not take it from just anybody.
            userId: HTTPField.Name("X-User-Id").flatMap { request.headers[$0] },
            sessionId: request.cookies["session"]?.value,
            requestId: context.id
        )
        return try await EventContext.with(who) { try await next(request, context) }
    }
}
