import EventModel
import HTTPTypes
import Hummingbird
import Synchronization

/// The pages with which a browser gets and gives up the cookie of a session.
struct LoginPages: Sendable {
    private struct Form: Decodable {
        let token: String
    }

    /// How long the answer to a wrong token takes.
    private static let penalty = Duration.milliseconds(500)
    /// The maximum number of attempts at one time; further ones are refused at once.
    private static let maximumPenalties = 8

    private static let form = """
        <form method="post" action="/login">
        <p><label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label>
        <button>Log in</button></p>
        </form>
        """

    let access: AccessControl
    let clock: RelativeClock
    private let penalties = Penalties()

    init(_ access: AccessControl, clock: RelativeClock) {
        self.access = access
        self.clock = clock
    }

    func add<Context: RequestContext>(to router: Router<Context>) {
        router.get("/login") { _, _ in
            access.needsToken ? Response.page("Sluice", Self.form) : Response.redirect(to: "/")
        }
        router.post("/login") { request, context in try await logIn(request, context) }
        router.post("/logout") { request, _ in
            access.endSession(request)
            return Self.redirect(to: "/login", session: "", for: .zero)
        }
    }

    private func logIn(_ request: Request, _ context: some RequestContext) async throws -> Response {
        let form = try await URLEncodedFormDecoder().decode(Form.self, from: request, context: context)
        // Before the comparison, so that a wrong token costs a place whatever its answer is.
        guard penalties.begin(limit: Self.maximumPenalties) else {
            return .page("Too many attempts", "<p>Try again in a moment.</p>", status: .tooManyRequests)
        }
        defer { penalties.end() }
        if access.accepts(form.token) {
            return Self.redirect(to: "/", session: access.beginSession(), for: access.sessions.duration)
        }
        access.noteWrongToken()
        try await clock.sleepUntil(clock.now() + Self.penalty)
        return .page("Sluice", "<p>This is not the token.</p>" + Self.form, status: .unauthorized)
    }

    private static func redirect(to path: String, session: String, for duration: Duration) -> Response {
        var response = Response.redirect(to: path)
        response.setCookie(
            Cookie(
                name: AccessControl.cookieName,
                value: session,
                maxAge: Int(duration.components.seconds),
                path: "/",
                httpOnly: true,
                sameSite: .strict
            )
        )
        return response
    }
}

/// The wrong attempts that wait for their answer.
private final class Penalties: Sendable {
    private let count = Mutex(0)

    /// Whether there is room for another.
    func begin(limit: Int) -> Bool {
        count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
    }

    func end() {
        count.withLock { $0 -= 1 }
    }
}
