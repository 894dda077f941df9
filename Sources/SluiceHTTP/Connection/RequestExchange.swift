import EventPipeline
package import EventValidation
import Gzip
package import NIOCore
import NIOHTTP1

/// One request, from its header to its response.
///
/// It decides how to handle the request. `ConnectionState` decides when to call it, and when to write.
package struct RequestExchange: ~Copyable {
    /// What the connection does for the request next.
    package enum Step {
        /// Receives the body, after an informational response if the sender waits for one.
        case receiveBody(expectsContinue: Bool)
        /// Renders the schema of these events, or of all, and calls `response(with:)`.
        case render(PlanDocuments, for: EventSet?)
        /// Calls `takeTurn` when it is the sender's turn.
        case waitForTurn(isSmall: Bool, hadTurn: Bool)
        /// Submits the batch to the pipeline, and calls `settle` and `response(to:)` with its decision.
        case submit(EventBatch)
        /// Responds.
        case respond(Response)
    }

    /// The response to a request, before it is encoded.
    package enum Response {
        /// A single event was accepted; the response is prepared.
        case acceptedOne
        case answer(Answer)
        case failure(Failure)

        /// Whether the rest of the connection's input cannot be interpreted.
        package var endsConnection: Bool {
            if case .failure(let failure) = self { failure.endsConnection } else { false }
        }
    }

    /// Says whether accepted events are stored or delivered, if that is not always the same.
    static let acknowledgementField = "sluice-acknowledged"

    private var access = SenderAccess()
    /// When the header was received; `nil` if there is none yet.
    private var began: NIODeadline?
    /// What the request counts as in metrics.
    private var label = HTTPMetrics.DialectLabel.other
    /// What the body and the response are written in.
    private var language = BodyLanguage.sluice(.document)
    /// Whether the connection can be used again after the response.
    package private(set) var keepsAlive = true
    /// Whether the sender speaks HTTP/1.0.
    private var isVersion10 = false
    /// Whether the response has no body, for HEAD.
    private var isHead = false
    /// Whether the valid events are stored; if not, they are only checked.
    private var stores = true
    /// Whether one invalid event makes the whole body invalid.
    private var isStrict = false
    /// The values of `If-None-Match`.
    private var knownTags: [String] = []
    /// What is added to the `context` of the events.
    private var additions = ContextAdditions()

    /// The announced size of the body, in bytes.
    private var contentLength: Int?
    /// Whether the body is compressed.
    private var isGzip = false
    /// The body received so far; the first piece is not copied.
    private var body: ByteBuffer?
    /// The body that is being inflated and checked, between its turns.
    private var work: BodyWork?
    /// The number of events that count against the key's limits.
    private var countedEvents = 0
    /// The size of the batch that counts against the key's part of the journal.
    private var countedBytes = 0
    /// The response and the rejected events, for when the pipeline accepts the batch; `nil` for a single accepted event.
    private var verdict: Verdict?
    /// The memory that the body takes, and later the batch and the response.
    private var memory = Reservation()

    /// Creates the exchange of a connection without a request.
    package init() {}

    private init(_ head: RequestHead, from peer: Peer, in loop: LoopResources) {
        began = .now()
        access = SenderAccess(head, from: peer, in: loop)
        keepsAlive = head.keepsAlive
        isVersion10 = head.isVersion10
        isHead = head.method == .HEAD
        knownTags = head.knownTags
        contentLength = head.contentLength
        isStrict = head.isStrict == true
        if case .validate = head.route { stores = false }
        if case .dialect(let dialect) = head.route { language = .dialect(dialect) }
        switch head.route {
        case .events, .validate, .dialect: label = language.label
        case .plan, .settings, .livez, .readyz, nil: break
        }
        if loop.server.recordsClientAddress {
            additions.clientAddress = Array(peer.address.text(forwardedFor: head.forwardedFor).utf8)
        }
        if loop.server.recordsTraceparent, let traceparent = head.traceparent {
            additions.traceparent = Array(traceparent.utf8)
        }
    }

    /// With whom the sender shares the time of the event loop.
    package var sender: LoopResources.Sender { access.sender }
}

// MARK: - The header

extension RequestExchange {
    /// Begins a request with its header.
    package mutating func begin(_ head: RequestHead, from peer: Peer, in loop: LoopResources) -> Step {
        self = RequestExchange(head, from: peer, in: loop)
        let step: Step
        do throws(Failure) {
            step = try decide(head, from: peer, in: loop)
        } catch {
            step = .respond(.failure(error))
        }
        if case .receiveBody = step { return step }
        // The response precedes the body. If the sender may hold the body back, or if it is too large to be discarded, the start of the
        // next request is unknown, so the connection ends.
        if head.expectsContinue || (head.contentLength ?? 0) > loop.server.maximumBodyBytes { keepsAlive = false }
        return step
    }

    private mutating func decide(
        _ head: RequestHead,
        from peer: Peer,
        in loop: LoopResources
    ) throws(Failure) -> Step {
        switch head.disposition(in: loop.server, plan: loop.plan) {
        case .receive(let language, let isGzip):
            self.language = language
            label = language.label
            self.isGzip = isGzip
            try access.admit(head, mayHaveKeyInBody: language.mayHaveKeyInBody, from: peer, in: loop)
            guard reserve(bodyOf: head.contentLength ?? 0, in: loop) else { throw .overloaded }
            return .receiveBody(expectsContinue: head.expectsContinue)
        case .settings(let settings):
            return .respond(.answer(try response(with: settings, to: head, from: peer, in: loop)))
        case .plan(let plan):
            return .render(plan, for: try access.admitReader(with: head.key, in: loop))
        case .preflight:
            return .respond(.answer(try access.preflight(head)))
        case .live:
            return .respond(.answer(Answer(status: "200 OK", body: AnswerEncoder.healthy)))
        case .ready:
            guard !loop.server.connections.isDraining, loop.server.pipeline.unreadyReasons.isEmpty else {
                throw .notReady
            }
            return .respond(.answer(Answer(status: "200 OK", body: AnswerEncoder.healthy)))
        case .refuse(let failure):
            throw failure
        }
    }

    /// The settings that a client for browsers loads.
    private func response(
        with settings: ClientSettings,
        to head: RequestHead,
        from peer: Peer,
        in loop: LoopResources
    ) throws(Failure) -> Answer {
        let key = settings.key ?? head.key
        _ = try access.admitReader(with: key, in: loop)
        guard let host = head.host else { throw .missingHost }
        var fields: HTTPHeaders = ["cache-control": "no-store"]
        if access.fields.isEmpty { fields.add(name: "vary", value: "origin") }
        let body = settings.json(key: key ?? [], host: host, isEncrypted: peer.isEncrypted)
        return Answer(status: "200 OK", fields: fields, body: body)
    }

    /// The response with the plan's schema.
    package mutating func response(with outcome: PlanOutcome, in loop: LoopResources) -> Response {
        guard let document = try? outcome.get() else { return .failure(.planTooLarge) }
        var fields: HTTPHeaders = ["etag": document.tag, "cache-control": "private, no-cache"]
        if access.fields.isEmpty { fields.add(name: "vary", value: "origin") }
        if document.isKnown(by: knownTags) {
            return .answer(Answer(status: "304 Not Modified", fields: fields, body: nil))
        }
        let bytes = isHead ? 0 : document.body.count + AnswerEncoder.maximumHeaderBytes
        guard memory.grow(to: bytes, of: loop.server.planBudget) else { return .failure(.planUnavailable) }
        return .answer(
            Answer(status: "200 OK", fields: fields, contentType: "application/schema+json", body: document.body)
        )
    }
}

// MARK: - The body

extension RequestExchange {
    /// Keeps a piece of the body; `total` is the size of all pieces.
    ///
    /// - Returns: `nil`, or the response if there is no memory for it.
    package mutating func keep(_ piece: ByteBuffer, total: Int, in loop: LoopResources) -> Step? {
        guard reserve(bodyOf: total, in: loop) else { return .respond(.failure(.overloaded)) }
        guard let kept = body?.readableBytes else {
            body = piece
            return nil
        }
        if let contentLength, contentLength > kept {
            body?.reserveCapacity(minimumWritableBytes: contentLength - kept)
        }
        body?.writeImmutableBuffer(piece)
        return nil
    }

    /// Begins to inflate and check the body, which is complete.
    package mutating func check(in loop: LoopResources, from peer: Peer) -> Step {
        let work = BodyWork(
            body ?? ByteBuffer(),
            in: language,
            isGzip: isGzip,
            maximumBytes: loop.server.maximumBodyBytes,
            access: access.isKeyInBody ? nil : access.bodyAccess,
            additions: additions,
            arrival: BodyArrival(time: loop.now(), window: loop.server.pipeline.eventTimes)
        )
        body = nil
        let beginsAtOnce = loop.mayBegin(work)
        let isSmall = work.looksSmall
        self.work = consume work
        guard beginsAtOnce else { return .waitForTurn(isSmall: isSmall, hadTurn: false) }
        return takeTurn(fromAllowance: true, in: loop, from: peer)
    }

    /// Inflates and checks the next part of the body, after `Step.waitForTurn`.
    package mutating func takeTurn(fromAllowance: Bool, in loop: LoopResources, from peer: Peer) -> Step {
        guard var work = work.take() else { preconditionFailure("a request without a body takes no turn") }
        do {
            var step = try loop.advance(&work, of: sender, fromAllowance: fromAllowance)
            if case .stated(let key) = step {
                try access.admit(key: key, from: peer, in: loop)
                work.allow(access.bodyAccess)
                step = try loop.advance(&work, of: sender, fromAllowance: fromAllowance)
            }
            if case .checked(let body, let ids) = step { return try submit(body, statedIDs: ids, in: loop) }
            guard reserve(work.byteCount, in: loop) else { throw Failure.overloaded }
        } catch {
            return .respond(.failure(failure(for: error, in: loop)))
        }
        let isSmall = work.isSmall
        self.work = consume work
        return .waitForTurn(isSmall: isSmall, hadTurn: true)
    }

    /// Reserves the memory for a body of the given size.
    private mutating func reserve(bodyOf bytes: Int, in loop: LoopResources) -> Bool {
        guard bytes > max(MemoryBudget.freeBodyBytes, memory.byteCount) else { return true }
        // The length of a chunked body is unknown, so more is reserved than was received.
        return memory.grow(to: contentLength ?? bytes + MemoryBudget.freeBodyBytes, of: loop.server.budget)
    }

    /// Reserves memory up to a total, unless the total is within the free allowance.
    private mutating func reserve(
        _ bytes: Int,
        free: Int = MemoryBudget.freeBodyBytes,
        in loop: LoopResources
    ) -> Bool {
        bytes <= free || memory.grow(to: bytes, of: loop.server.budget)
    }

    /// Why a body could not be inflated or checked.
    private func failure(for error: any Error, in loop: LoopResources) -> Failure {
        switch error {
        case let failure as Failure:
            return failure
        case let gzip as GzipError where gzip.code == .outputTooLarge:
            return .tooLarge(limit: loop.server.maximumBodyBytes)
        case let gzip as GzipError where !gzip.isRetryable:
            return .invalidGzip
        case let malformed as MalformedBody:
            access.grant?.limiter.charge(max(1, malformed.checkedEvents))
            return .malformed(malformed)
        default:
            return .noMemory
        }
    }
}

// MARK: - The pipeline

extension RequestExchange {
    /// Submits a checked body.
    ///
    /// The response is encoded before, because an accepted batch has to be answered. `ids` are the ids of the events as their
    /// client wrote them, if the dialect's answer names events by them.
    private mutating func submit(
        _ body: CheckedBody,
        statedIDs ids: [String?],
        in loop: LoopResources
    ) throws(Failure) -> Step {
        let verdict = verdict(of: body, ids, in: loop)
        // From here on the batch, the response and the rejections take memory instead of the body.
        let bytes = (body.batch?.byteCount ?? 0) + (verdict?.byteCount ?? 0)
        let free = verdict?.isLong == true ? 0 : MemoryBudget.freeBodyBytes
        guard reserve(bytes, free: free, in: loop) else { throw .overloaded }
        memory.shrink(to: bytes)
        if let grant = access.grant {
            let events = (body.batch?.count ?? 0) + body.rejected.count
            if let refusal = grant.limiter.take(events, of: access.address, now: loop.now()) {
                throw .limited(refusal, isBrowser: access.origin != nil)
            }
            countedEvents = events
        }
        if isStrict, body.rejected.count > 0 {
            return .respond(.answer(language.answer(toStrict: body, within: loop.server.maximumAnswerBytes)))
        }
        if !stores {
            let text = verdict?.answer ?? Array(VerdictEncoder.acceptedOne.utf8)
            let status = body.batch == nil ? statusWithoutEvents(of: body) : "200 OK"
            return .respond(.answer(Answer(status: status, body: text)))
        }
        guard let batch = body.batch else {
            verdict?.keepRejections(in: loop.server.pipeline)
            return .respond(.answer(Answer(status: statusWithoutEvents(of: body), body: verdict?.answer ?? [])))
        }
        try takeJournalShare(batch.byteCount, in: loop)
        self.verdict = verdict
        return .submit(batch)
    }

    /// Counts a batch against its key's part of the journal; if the key has used that, its events do not count.
    private mutating func takeJournalShare(_ bytes: Int, in loop: LoopResources) throws(Failure) {
        guard let grant = access.grant, let ring = loop.keys.ring else { return }
        let keys = ring.validKeyCount(now: loop.now())
        guard loop.server.journalShares.take(bytes, of: grant.limiter, among: keys) else {
            grant.limiter.giveBack(countedEvents)
            throw .journalShareUsed
        }
        countedBytes = bytes
    }

    /// The response if the batch is accepted; `nil` for a single accepted event, whose response is prepared.
    private func verdict(of body: CheckedBody, _ ids: [String?], in loop: LoopResources) -> Verdict? {
        let limit = loop.server.maximumAnswerBytes
        let answer: [UInt8]
        switch language {
        case .sluice where body.batch?.count == 1 && body.rejected.count == 0: return nil
        case .sluice: answer = VerdictEncoder.verdicts(of: body, within: limit)
        case .dialect(let dialect): answer = dialect.answer(to: body, statedIDs: ids, within: limit)
        }
        return Verdict(of: body, answer: answer, limiter: access.grant?.limiter, now: loop.now)
    }

    /// The status of the response to a body without valid events.
    private func statusWithoutEvents(of body: CheckedBody) -> StaticString {
        guard case .dialect(let dialect) = language else { return "422 Unprocessable Content" }
        // The protocols of other clients allow an empty batch.
        return body.rejected.count == 0 ? "200 OK" : dialect.allRejectedStatus
    }

    /// Settles the pipeline's decision about the batch, even if the sender is gone and gets no response.
    package mutating func settle(_ outcome: Submission.Outcome, in loop: LoopResources) {
        switch outcome {
        case .success: verdict?.keepRejections(in: loop.server.pipeline)
        // Nothing was accepted, so the sender will repeat the request; the rejected events are stored then, once.
        case .failure(let error):
            access.grant?.limiter.giveBack(countedEvents, countedBytes, in: loop.server, after: error)
        }
    }

    /// The response after the pipeline's decision.
    ///
    /// `missedCommit` says whether the batch was withdrawn because its commit did not begin in time.
    package func response(to outcome: Submission.Outcome, missedCommit: Bool, in loop: LoopResources) -> Response {
        switch outcome {
        case .success(let acknowledgement):
            let isNamed = loop.server.namesAcknowledgement
            if verdict == nil, !isNamed { return .acceptedOne }
            return .answer(
                Answer(
                    status: "200 OK",
                    fields: isNamed ? [Self.acknowledgementField: acknowledgement.description] : [:],
                    body: verdict?.answer ?? Array(VerdictEncoder.acceptedOne.utf8)
                )
            )
        case .failure(let error):
            return .failure(loop.server.failure(for: error, missedCommit: missedCommit))
        }
    }

    /// Returns what remains to be done when the pipeline decides, and hands over the memory; the connection no longer waits.
    package mutating func takeRemainder(in loop: LoopResources) -> Submission.Remainder {
        Submission.Remainder(
            verdict: verdict.take(),
            limiter: access.grant?.limiter,
            countedEvents: countedEvents,
            countedBytes: countedBytes,
            memory: memory.take(),
            server: loop.server
        )
    }

    /// Releases the memory, because the sender is gone; the pipeline's decision may still follow.
    package mutating func abandon() {
        body = nil
        work = nil
        memory.shrink(to: 0)
    }
}

// MARK: - The response

extension RequestExchange {
    /// Encodes the response to the request.
    package func encode(
        _ response: Response,
        isLast: Bool,
        for version: ConnectionVersion,
        in loop: LoopResources
    ) -> EncodedAnswer {
        var answer: Answer
        switch response {
        case .acceptedOne:
            let isPlain = version == .http2 || (!isLast && !isVersion10)
            if isPlain, access.fields.isEmpty {
                loop.metrics.acceptedOne(began: began)
                return loop.acceptedOne(in: version)
            }
            answer = Answer(status: "200 OK", body: Array(VerdictEncoder.acceptedOne.utf8))
        case .answer(let other):
            answer = other
        case .failure(let failure):
            answer = language.answer(to: failure)
        }
        loop.metrics.answered(label, answer.status, began: began)
        if !access.fields.isEmpty { answer.fields.add(contentsOf: access.fields) }
        return AnswerEncoder.encode(
            answer,
            for: version,
            persistence: isLast ? .close : isVersion10 ? .keepAlive : .implied,
            withoutBody: isHead
        )
    }

    /// Ends the exchange.
    ///
    /// - Returns: The memory that a long response keeps until it is sent, because the sender may not read it.
    package mutating func end(with response: EncodedAnswer) -> Reservation {
        memory.shrink(to: response.byteCount > MemoryBudget.freeAnswerBytes ? response.byteCount : 0)
        let kept = memory.take()
        self = RequestExchange()
        return kept
    }
}
