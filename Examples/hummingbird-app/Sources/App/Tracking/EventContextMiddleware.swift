import HTTPTypes
import Hummingbird
import Sluice

/// States once who asks and in which request; every event that is tracked while it is answered carries it.
struct EventContextMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let who = EventContext(
            // The gateway before this service knows who it is; do not take it from just anybody.
            userID: HTTPField.Name("X-User-Id").flatMap { request.headers[$0] },
            sessionID: request.cookies["session"]?.value,
            requestID: context.id
        )
        return try await EventContext.with(who) { try await next(request, context) }
    }
}
