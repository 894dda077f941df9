import HTTPTypes
import Hummingbird
import Sluice

/// Sets the user, the session and the request of all events that are tracked while a request is handled.
struct EventContextMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let who = EventContext(
            // Set by a gateway that has authenticated the user; do not trust this header from anyone else.
            userID: HTTPField.Name("X-User-Id").flatMap { request.headers[$0] },
            sessionID: request.cookies["session"]?.value,
            requestID: context.id
        )
        return try await EventContext.with(who) { try await next(request, context) }
    }
}
