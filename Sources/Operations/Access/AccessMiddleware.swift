import HTTPTypes
import Hummingbird

/// Answers only the requests that `AccessControl` allows, and adds the header fields that protect browsers.
struct AccessMiddleware<Context: RequestContext>: RouterMiddleware {
    /// The paths that everyone may see.
    private static var openPaths: Set<String> { ["/livez", "/login"] }

    /// `nil` for the socket, which only the user of the process can use.
    let access: AccessControl?

    func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        switch access?.decide(request, isOpen: Self.openPaths.contains(request.uri.path)) ?? .allow {
        case .allow:
            response = try await answer(request, context, next)
        case .authenticate where Self.isPage(request):
            response = .redirect(to: "/login")
        case .authenticate:
            response = .text("This needs the private port's token.\n", status: .unauthorized)
            response.headers[.wwwAuthenticate] = "Bearer"
        case .refuse(let reason):
            response = .text(reason + "\n", status: .forbidden)
        }
        for (name, value) in Self.protection { response.headers[name] = value }
        return response
    }

    /// The answer of the route; an error that stands for an answer, such as an unknown path, becomes that answer.
    private func answer(
        _ request: Request,
        _ context: Context,
        _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError {
            return .text("\(error.status.reasonPhrase)\n", status: error.status)
        } catch is DecodingError {
            return .text("The body is not what this path expects.\n", status: .badRequest)
        }
    }

    /// Whether a browser asks for a page, which a person wants to see.
    private static func isPage(_ request: Request) -> Bool {
        request.method == .get && (request.headers[.accept]?.contains("text/html") ?? false)
    }

    /// The pages load their own script, style and data, and nothing from elsewhere.
    private static var contentPolicy: String {
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; "
            + "frame-ancestors 'none'; base-uri 'none'"
    }

    /// Nothing is kept, framed, embedded, or loaded from elsewhere.
    private static var protection: [(HTTPField.Name, String)] {
        [
            (.cacheControl, "no-store"),
            (.contentSecurityPolicy, contentPolicy),
            (.xContentTypeOptions, "nosniff"),
            (.crossOriginResourcePolicy, "same-origin"),
            // With "no-referrer", a browser would state no origin with the form of our own login page.
            (.referrerPolicy, "same-origin"),
        ]
    }
}

extension HTTPField.Name {
    /// Literals that are valid names.
    private static func known(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else {
            preconditionFailure("'\(name)' is not a valid name of a header field")
        }
        return field
    }

    fileprivate static let referrerPolicy = known("Referrer-Policy")
}
