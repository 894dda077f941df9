import Hummingbird
import Logging
import Sluice

/// Responds to a request whose event was not accepted, and which therefore had no effect.
struct TrackErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as TrackError {
            context.logger.warning("An event was not accepted.", metadata: ["error": "\(error)"])
            throw HTTPError(error)
        }
    }
}

extension HTTPError {
    /// Maps an invalid event to 422 with the violated rules, an unknown outcome to 504, and other errors to 503.
    ///
    /// The plan's limits are also the limits on this service's input, so the client can correct the request. An invalid value
    /// that the service itself chose would be a bug in the service, and a 500.
    init(_ error: TrackError) {
        switch error.code {
        case .invalid:
            let rules = error.violations.map { "\($0.path): expected \($0.expected), found \($0.found)" }
            self.init(.unprocessableContent, message: rules.joined(separator: "; "))
        case .outcomeUnknown:
            // Without Retry-After, because a repetition might be counted twice.
            self.init(.gatewayTimeout, message: "Whether the event was accepted is unknown.")
        default:
            self.init(.serviceUnavailable, headers: [.retryAfter: "1"], message: "Try again in a moment.")
        }
    }
}
