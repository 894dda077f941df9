import EventModel
import HTTPTypes
import Hashing
import Hummingbird
import Logging
import Synchronization

/// Decides who may use the private port.
///
/// With a token, a request needs it as a bearer token (RFC 6750), or the cookie of a session that was begun with it. Without a token
/// the port listens on a loopback address, and a request must be sent to a name of this machine. In both cases a request
/// from a web page of another origin is refused.
struct AccessControl: Sendable {
    /// What to do with a request.
    enum Decision: Equatable {
        case allow
        /// It needs a token or a session.
        case authenticate
        /// It is sent to a foreign name or by a foreign page.
        case refuse(String)
    }

    static let cookieName = "sluice-session"

    /// `nil` if none is needed.
    private let token: AccessToken?
    let sessions: Sessions
    private let clock: RelativeClock
    private let logger: Logger
    private let wrongTokens = WrongTokens()

    init(_ configuration: OperationsConfiguration, clock: RelativeClock, logger: Logger) {
        token = configuration.token.map { AccessToken($0, read: configuration.readToken) }
        sessions = Sessions(duration: configuration.sessionDuration)
        self.clock = clock
        self.logger = logger
    }

    /// Whether a token is needed.
    var needsToken: Bool { token != nil }

    /// Decides about a request; `isOpen` says that everyone may see the answer.
    func decide(_ request: Request, isOpen: Bool) -> Decision {
        let source = RequestSource(request.head)
        if source.isForeign { return .refuse("This port does not answer web pages of other origins.") }
        guard needsToken else {
            return source.isSentToLoopback
                ? .allow : .refuse("Without a token, this port answers only requests to a name of this machine.")
        }
        endSessionsOfEarlierToken()
        if isOpen || hasSession(request) { return .allow }
        switch hasToken(request.headers[.authorization]) {
        case true?: return .allow
        case false?: noteWrongToken()
        case nil: break
        }
        return .authenticate
    }

    /// Whether a request with these header fields has the token or a session, or needs none.
    func knows(authorization: String?, cookies: [String]) -> Bool {
        guard needsToken, hasToken(authorization) != true else { return true }
        endSessionsOfEarlierToken()
        return cookies.lazy.flatMap { $0.split(separator: ";") }.contains { cookie in
            let parts = cookie.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingPrefix(while: \.isWhitespace) == Self.cookieName else {
                return false
            }
            return sessions.contains(String(parts[1]), now: clock.now())
        }
    }

    /// Whether a request that was allowed would be allowed now, for an answer that lasts: it ends with the session of its browser.
    func stillAllows(_ request: Request) -> @Sendable () -> Bool {
        guard needsToken, request.headers[.authorization] == nil, let number = request.cookies[Self.cookieName]?.value
        else { return { true } }
        return {
            endSessionsOfEarlierToken()
            return sessions.contains(number, now: clock.now())
        }
    }

    /// Whether a text is the token.
    func accepts(_ text: String) -> Bool {
        endSessionsOfEarlierToken()
        return token?.isEqual(to: text) ?? false
    }

    private func endSessionsOfEarlierToken() {
        if token?.hasChanged() == true { sessions.endAll() }
    }

    /// Begins a session; returns its number.
    func beginSession() -> String { sessions.begin(now: clock.now()) }

    /// Ends the session of a request.
    func endSession(_ request: Request) {
        if let number = request.cookies[Self.cookieName]?.value { sessions.end(number) }
    }

    /// Whether a bearer token is the right one; `nil` if there is none.
    private func hasToken(_ authorization: String?) -> Bool? {
        guard let parts = authorization?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[0].lowercased() == "bearer"
        else { return nil }
        return accepts(String(parts[1]))
    }

    /// Logs that somebody has sent a wrong token, at once and then at most once a minute.
    func noteWrongToken() {
        guard let count = wrongTokens.add(now: clock.now()) else { return }
        logger.warning("The private port got wrong tokens.", metadata: ["attempts": "\(count)"])
    }

    private func hasSession(_ request: Request) -> Bool {
        guard let number = request.cookies[Self.cookieName]?.value else { return false }
        return sessions.contains(number, now: clock.now())
    }
}

/// The wrong tokens that were not logged yet.
private final class WrongTokens: Sendable {
    private let episode = Mutex(FailureEpisode())

    /// Counts one; returns how many to log, if that is due.
    func add(now: Duration) -> Int? { episode.withLock { $0.failed(now: now) }?.count }
}

/// The token, as the digest of what was read last.
private final class AccessToken: Sendable {
    private let digest: Mutex<SHA256Digest>
    private let read: (@Sendable () -> String?)?

    init(_ token: String, read: (@Sendable () -> String?)?) {
        digest = Mutex(SHA256Digest(of: Array(token.utf8)))
        self.read = read
    }

    /// Reads it again; returns whether it is another one.
    func hasChanged() -> Bool {
        guard let token = read?(), token.utf8.count >= OperationsConfiguration.minimumTokenBytes else { return false }
        let current = SHA256Digest(of: Array(token.utf8))
        return digest.withLock { digest in
            defer { digest = current }
            return digest != current
        }
    }

    /// Compares a text with it, in a time that tells nothing about it.
    func isEqual(to text: String) -> Bool {
        ConstantTime.areEqual(SHA256Digest(of: Array(text.utf8)).bytes, digest.withLock(\.bytes))
    }
}
