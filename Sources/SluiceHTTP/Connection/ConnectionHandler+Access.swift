import EventValidation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Deciding whether a sender may send, by its key and by the web page that it sends from.
extension ConnectionHandler {
    /// Decides by the header; if the key may be in the body, `admit(key:)` decides later.
    func admit(_ head: RequestHead) throws(Failure) {
        try admitOrigin()
        guard let ring = loop.keys.ring else { return }
        if let key = head.key { return try admit(key, in: ring) }
        guard case .dialect(let dialect) = exchange.language, dialect.mayHaveKeyInBody else { throw .unauthorized }
        exchange.expectsKeyInBody = true
    }

    /// Decides by the key in the body; `nil` if it contains none.
    func admit(key: [UInt8]?) throws(Failure) {
        guard let ring = loop.keys.ring else { return }
        guard let key else { throw .unauthorized }
        try admit(key, in: ring)
    }

    /// Answers a CORS preflight request, which has no key.
    func answerPreflight(_ head: RequestHead) throws(Failure) {
        guard exchange.origin != nil else { throw .forbiddenOrigin }
        try admitOrigin()
        exchange.fields.replaceOrAdd(name: "vary", value: "origin, access-control-request-headers")
        let fields = AnswerEncoder.preflightFields(for: head.requestedFieldNames)
        answerEarly(Answer(status: "204 No Content", fields: fields, body: nil))
    }

    /// Answers with the settings that a client for browsers loads.
    func answer(_ settings: ClientSettings, _ head: RequestHead) throws(Failure) {
        try admitOrigin()
        let key = settings.key ?? head.key
        if let ring = loop.keys.ring {
            guard let key else { throw .unauthorized }
            _ = try grant(for: key, in: ring)
        }
        guard let host = head.host else { throw .missingHost }
        var answer = Answer(
            status: "200 OK",
            fields: ["cache-control": "no-store"],
            body: settings.json(key: key ?? [], host: host, isEncrypted: isEncrypted)
        )
        if exchange.fields.isEmpty { answer.fields.add(name: "vary", value: "origin") }
        answerEarly(answer)
    }

    /// Decides whether a sender may read the plan; this does not count against the limits of its key.
    ///
    /// - Returns: The events that its key may send; `nil` for all.
    func admitReader(_ head: RequestHead) throws(Failure) -> EventSet? {
        try admitOrigin()
        guard let ring = loop.keys.ring else { return nil }
        guard let key = head.key else { throw .unauthorized }
        return try grant(for: key, in: ring).events
    }

    private func admit(_ key: [UInt8], in ring: KeyRing) throws(Failure) {
        let grant = try grant(for: key, in: ring)
        guard connectionKey.change(to: grant.limiter) else {
            endHTTP2Connection()
            throw .tooManyConnectionsForKey
        }
        // A key that has sent too much is refused before its events are checked.
        if let refusal = grant.limiter.refusal(of: exchange.sender, now: loop.now()) {
            throw .limited(refusal, isBrowser: exchange.origin != nil)
        }
        exchange.grant = grant
        exchange.key = key
    }

    private func grant(for key: [UInt8], in ring: KeyRing) throws(Failure) -> KeyGrant {
        guard let grant = loop.keys.grant(for: key, in: ring, now: loop.now()) else { throw .unauthorized }
        if let origin = exchange.origin, !grant.allows(origin: origin) { throw .forbiddenOrigin }
        return grant
    }

    /// Begins the shutdown of the connection that a stream belongs to, which the answer to the stream does not end.
    private func endHTTP2Connection() {
        // The parent of an HTTP/1 connection is the listening socket.
        guard version == .http2 else { return }
        context?.channel.parent?.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }

    /// Lets a web page read the answer, whatever it is, if it may send with any key.
    func noteOrigin() {
        guard let origin = exchange.origin, origin.utf8.count <= AnswerEncoder.maximumOriginBytes else { return }
        let ring = loop.keys.ring
        guard ring?.allows(origin: origin) ?? shared.openOrigins.matches(origin) else { return }
        // Without keys, a proxy may check senders by their cookies, which a web page must not use.
        exchange.fields = AnswerEncoder.fields(allowing: origin, withCredentials: ring != nil)
    }

    /// Whether the connection speaks TLS.
    private var isEncrypted: Bool {
        guard let channel = version == .http2 ? context?.channel.parent : context?.channel else { return false }
        return (try? channel.pipeline.syncOperations.handler(type: NIOSSLServerHandler.self)) != nil
    }

    private func admitOrigin() throws(Failure) {
        if exchange.origin != nil, exchange.fields.isEmpty { throw .forbiddenOrigin }
    }
}
