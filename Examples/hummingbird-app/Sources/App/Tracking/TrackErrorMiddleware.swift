import Hummingbird
import Logging
import Sluice

/// Answers a request whose event was not taken: what it asked for was not done either.
struct TrackErrorMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as TrackError {
            context.logger.warning("An event was not taken.", metadata: ["error": "\(error)"])
            throw HTTPError(error)
        }
    }
}

extension HTTPError {
    /// 422 with the rules that were broken, where the event does not follow the plan; 503 where it may be taken later; 504
    /// where it is not known whether it was taken.
    ///
    /// The plan's limits are those of this service's input, so whoever sent it can put it right. Values that a service
    /// makes up itself would be its own fault, and a 500.
    init(_ error: TrackError) {
        switch error.code {
        case .invalid:
            let rules = error.violations.map { "\($0.path): expected \($0.expected), found \($0.found)" }
            self.init(.unprocessableContent, message: rules.joined(separator: "; "))
        case .outcomeUnknown:
            // Without Retry-After: a repetition might be counted twice.
            self.init(.gatewayTimeout, message: "It is not known whether the event was taken.")
        default:
            self.init(.serviceUnavailable, headers: [.retryAfter: "1"], message: "Try again in a moment.")
        }
    }
}
