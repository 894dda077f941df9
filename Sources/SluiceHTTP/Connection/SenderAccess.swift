package import EventValidation
package import NIOHTTP1

/// What the sender of a request may do, by its key and by the web page that it sends from.
package struct SenderAccess {
    /// The web page that sends, if a browser says so.
    package private(set) var origin: String?
    /// Header fields that let the web page read the response, whatever it is; empty for a page that may not send with any key.
    package private(set) var fields: HTTPHeaders = [:]
    /// What the sender's key allows; `nil` if anyone may send, and as long as the key is unknown.
    package private(set) var grant: KeyGrant?
    /// The sender's key, once it is judged to be valid.
    package private(set) var key: [UInt8]?
    /// Whether the key is expected in the body.
    package private(set) var isKeyInBody = false
    /// The address whose limits apply to the request; `nil` if it is unknown.
    package private(set) var address: NetworkRange.Address?

    /// Creates the access of a sender that has not sent a header.
    package init() {}

    /// Creates the access of a sender whose key is not judged yet.
    package init(_ head: RequestHead, from peer: Peer, in loop: LoopResources) {
        origin = head.origin
        address = peer.sender(of: head)
        guard let origin, origin.utf8.count <= AnswerEncoder.maximumOriginBytes else { return }
        let ring = loop.keys.ring
        guard ring?.allows(origin: origin) ?? loop.server.openOrigins.matches(origin) else { return }
        // Without keys, a proxy may check senders by their cookies, which a web page must not use.
        fields = AnswerEncoder.fields(allowing: origin, withCredentials: ring != nil)
    }

    /// With whom the sender shares the time of the event loop.
    package var sender: LoopResources.Sender {
        if let grant { return .key(ObjectIdentifier(grant)) }
        guard isKeyInBody, let address else { return .anyone }
        return .address(address)
    }

    /// What the sender may do, for the check of its body.
    var bodyAccess: BodyWork.Access { BodyWork.Access(allowedEvents: grant?.events, key: key) }

    /// Decides by the header whether the events in the body are admitted.
    ///
    /// With `mayHaveKeyInBody`, a header without a key is admitted, and `admit(key:)` decides later.
    package mutating func admit(
        _ head: RequestHead,
        mayHaveKeyInBody: Bool,
        from peer: Peer,
        in loop: LoopResources
    ) throws(Failure) {
        try admitOrigin()
        guard let ring = loop.keys.ring else { return }
        if let key = head.key { return try admit(key, in: ring, from: peer, in: loop) }
        guard mayHaveKeyInBody else { throw .unauthorized }
        isKeyInBody = true
    }

    /// Decides by the key in the body; `nil` if it contains none.
    package mutating func admit(key: [UInt8]?, from peer: Peer, in loop: LoopResources) throws(Failure) {
        guard let ring = loop.keys.ring else { return }
        guard let key else { throw .unauthorized }
        try admit(key, in: ring, from: peer, in: loop)
    }

    /// Decides whether a key may be used to read; this does not count against its limits.
    ///
    /// - Returns: The events that the key may send; `nil` for all.
    package func admitReader(with key: [UInt8]?, in loop: LoopResources) throws(Failure) -> EventSet? {
        try admitOrigin()
        guard let ring = loop.keys.ring else { return nil }
        guard let key else { throw .unauthorized }
        return try grant(for: key, in: ring, loop).events
    }

    /// The response to a CORS preflight request, which has no key.
    package mutating func preflight(_ head: RequestHead) throws(Failure) -> Answer {
        guard origin != nil else { throw .forbiddenOrigin }
        try admitOrigin()
        fields.replaceOrAdd(name: "vary", value: "origin, access-control-request-headers")
        let fields = AnswerEncoder.preflightFields(for: head.requestedFieldNames)
        return Answer(status: "204 No Content", fields: fields, body: nil)
    }

    private func admitOrigin() throws(Failure) {
        if origin != nil, fields.isEmpty { throw .forbiddenOrigin }
    }

    private mutating func admit(
        _ key: [UInt8],
        in ring: KeyRing,
        from peer: Peer,
        in loop: LoopResources
    ) throws(Failure) {
        let grant = try grant(for: key, in: ring, loop)
        guard peer.key.change(to: grant.limiter) else { throw .tooManyConnectionsForKey }
        // A key that has sent too much is refused before its events are checked.
        if let refusal = grant.limiter.refusal(of: address, now: loop.now()) {
            throw .limited(refusal, isBrowser: origin != nil)
        }
        self.grant = grant
        self.key = key
    }

    private func grant(for key: [UInt8], in ring: KeyRing, _ loop: LoopResources) throws(Failure) -> KeyGrant {
        guard let grant = loop.keys.grant(for: key, in: ring, now: loop.now()) else { throw .unauthorized }
        if let origin, !grant.allows(origin: origin) { throw .forbiddenOrigin }
        return grant
    }
}
