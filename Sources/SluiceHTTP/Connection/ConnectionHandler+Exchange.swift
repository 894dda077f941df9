import EventPipeline
import EventValidation
import NIOCore
import NIOHTTP1

/// Handling a request, from its header to the response.
extension ConnectionHandler {
    /// Decides by the header, before the body is received.
    func begin(_ requestHead: HTTPRequestHead) {
        let head = RequestHead(requestHead)
        exchange = Exchange(head)
        exchange.began = .now()
        if requestNumber >= shared.maximumRequestsPerConnection { exchange.keepsAlive = false }
        exchange.sender = shared.proxies.isEmpty ? peerSender : clientAddress.sender(forwardedFor: head.forwardedFor)
        if shared.recordsClientAddress {
            exchange.additions.clientAddress = Array(clientAddress.text(forwardedFor: head.forwardedFor).utf8)
        }
        if shared.recordsTraceparent, let traceparent = head.traceparent {
            exchange.additions.traceparent = Array(traceparent.utf8)
        }
        noteOrigin()
        do throws(Failure) {
            try handle(head)
        } catch {
            refuse(error, head)
        }
    }

    private func handle(_ head: RequestHead) throws(Failure) {
        switch head.disposition(in: shared, plan: loop.plan) {
        case .receive(let language, let isGzip):
            exchange.language = language
            exchange.label = language.label
            exchange.isGzip = isGzip
            try admit(head)
            receiveBody(of: head)
        case .settings(let settings):
            try answer(settings, head)
        case .plan(let plan):
            try answer(plan, head)
        case .preflight:
            try answerPreflight(head)
        case .live:
            answerEarly(Answer(status: "200 OK", body: AnswerEncoder.healthy))
        case .ready:
            guard !shared.connections.isDraining, shared.pipeline.unreadyReasons.isEmpty else { throw .notReady }
            answerEarly(Answer(status: "200 OK", body: AnswerEncoder.healthy))
        case .refuse(let failure):
            throw failure
        }
    }

    /// Appends a piece of the body, if there is memory for it.
    func receive(_ piece: ByteBuffer) {
        exchange.bodyBytes += piece.readableBytes
        guard exchange.bodyBytes <= shared.maximumBodyBytes else {
            return fail(.tooLarge(limit: shared.maximumBodyBytes))
        }
        guard reserve(exchange.bodyBytes) else { return fail(.overloaded) }
        exchange.append(piece)
    }

    /// Discards a piece of a body whose request was already answered.
    func discard(_ piece: ByteBuffer) {
        exchange.bodyBytes += piece.readableBytes
        if exchange.bodyBytes > shared.maximumBodyBytes { close() }
    }

    private func receiveBody(of head: RequestHead) {
        guard reserve(head.contentLength ?? 0) else { return refuse(.overloaded, head) }
        phase = .receiving
        if head.expectsContinue { write(AnswerEncoder.goOn(in: version)) }
    }

    /// Refuses a request by its header.
    ///
    /// If the sender may hold the body back, or if the body is too large to be discarded, the start of the next request is
    /// unknown, so the connection ends.
    private func refuse(_ failure: Failure, _ head: RequestHead) {
        let isLast =
            failure.endsConnection || head.expectsContinue || (head.contentLength ?? 0) > shared.maximumBodyBytes
        answerEarly(exchange.language.answer(to: failure), isLast: isLast)
    }

    /// Refuses a request that was received completely.
    func refuse(_ failure: Failure) {
        if failure.endsConnection { exchange.keepsAlive = false }
        answer(exchange.language.answer(to: failure))
    }

    /// Reserves the memory for a body of the given size.
    private func reserve(_ bytes: Int) -> Bool {
        guard bytes > max(MemoryBudget.freeBodyBytes, exchange.reservedBytes) else { return true }
        // The length of a chunked body is unknown, so more is reserved than was received.
        return reserve(exactly: exchange.contentLength ?? bytes + MemoryBudget.freeBodyBytes)
    }

    /// Reserves memory for the exchange, up to the given total; more that is already reserved is kept.
    func reserve(exactly bytes: Int, free: Int = MemoryBudget.freeBodyBytes) -> Bool {
        guard bytes > max(free, exchange.reservedBytes) else { return true }
        guard shared.budget.reserve(bytes - exchange.reservedBytes) else { return false }
        exchange.reservedBytes = bytes
        return true
    }
}

// MARK: - Submitting

extension ConnectionHandler {
    /// Submits the valid events of a body; the response is encoded before, because after the submission it has to be sent.
    ///
    /// - Parameter ids: The ids of the events as their client wrote them, if the dialect's answer names events by them.
    func submit(_ body: CheckedBody, statedIDs ids: [String?]) {
        let verdict = verdict(of: body, ids)
        // From here on the batch, the response and the rejections take memory instead of the body.
        let bytes = (body.batch?.byteCount ?? 0) + (verdict?.byteCount ?? 0)
        let isLong = verdict?.isLong ?? false
        guard reserve(exactly: bytes, free: isLong ? 0 : MemoryBudget.freeBodyBytes) else { return refuse(.overloaded) }
        shared.budget.release(max(0, exchange.reservedBytes - bytes))
        exchange.reservedBytes = min(exchange.reservedBytes, bytes)
        if let grant = exchange.grant {
            let events = (body.batch?.count ?? 0) + body.rejected.count
            if let refusal = grant.limiter.take(events, of: exchange.sender, now: loop.now()) {
                return refuse(.limited(refusal, isBrowser: exchange.origin != nil))
            }
            exchange.countedEvents = events
        }
        if exchange.isStrict, body.rejected.count > 0 {
            return answer(exchange.language.answer(toStrict: body, within: shared.maximumAnswerBytes))
        }
        if !exchange.stores {
            let text = verdict?.answer ?? Array(VerdictEncoder.acceptedOne.utf8)
            return answer(Answer(status: body.batch == nil ? statusWithoutEvents(of: body) : "200 OK", body: text))
        }
        guard let batch = body.batch else {
            verdict?.keepRejections(in: shared.pipeline)
            return answer(Answer(status: statusWithoutEvents(of: body), body: verdict?.answer ?? []))
        }
        guard takeJournalShare(batch.byteCount) else { return refuse(.journalShareUsed) }
        let (outcome, ticket) = submission.submit(batch, to: shared.pipeline, for: self)
        self.verdict = verdict
        if let outcome {
            answer(outcome)
        } else {
            self.ticket = ticket
            phase = .waiting
        }
    }

    /// Counts a batch against its key's part of the journal; false if the key has used that, and then its events do not count.
    private func takeJournalShare(_ bytes: Int) -> Bool {
        guard let grant = exchange.grant, let ring = loop.keys.ring else { return true }
        let keys = ring.validKeyCount(now: loop.now())
        guard shared.journalShares.take(bytes, of: grant.limiter, among: keys) else {
            grant.limiter.giveBack(exchange.countedEvents)
            return false
        }
        exchange.countedBytes = bytes
        return true
    }

    /// The response if the batch is accepted; `nil` for a single accepted event, whose response is prepared.
    private func verdict(of body: CheckedBody, _ ids: [String?]) -> Verdict? {
        switch exchange.language {
        case .sluice where body.batch?.count == 1 && body.rejected.count == 0: nil
        case .sluice:
            Verdict(
                of: body,
                answer: VerdictEncoder.verdicts(of: body, within: shared.maximumAnswerBytes),
                limiter: exchange.grant?.limiter,
                now: loop.now
            )
        case .dialect(let dialect):
            Verdict(
                of: body,
                answer: dialect.answer(to: body, statedIDs: ids, within: shared.maximumAnswerBytes),
                limiter: exchange.grant?.limiter,
                now: loop.now
            )
        }
    }

    /// The status of the response to a body without valid events.
    private func statusWithoutEvents(of body: CheckedBody) -> StaticString {
        guard case .dialect(let dialect) = exchange.language else { return "422 Unprocessable Content" }
        // The protocols of other clients allow an empty batch.
        return body.rejected.count == 0 ? "200 OK" : dialect.allRejectedStatus
    }

    /// Continues when the pipeline has decided about the submitted batch.
    func resume(with outcome: Submission.Outcome) {
        ticket = nil
        guard context != nil, phase == .waiting else {
            // The sender is gone. If its events were accepted, those rejected with them are stored.
            switch outcome {
            case .success: verdict?.keepRejections(in: shared.pipeline)
            case .failure(let error): giveBack(after: error)
            }
            return
        }
        answer(outcome)
        continueAfterAnswer()
    }

    /// Continues with the input that was read after the request that is answered now.
    func continueAfterAnswer() {
        processPending()
        updateDeadline()
    }

    /// Says whether accepted events are stored or delivered, if that is not always the same.
    static let acknowledgementField = "sluice-acknowledged"

    private func answer(_ outcome: Submission.Outcome) {
        let verdict = verdict.take()
        switch outcome {
        case .success(let acknowledgement):
            if shared.namesAcknowledgement {
                exchange.fields.add(name: Self.acknowledgementField, value: acknowledgement.description)
            }
            guard let verdict else { return answerAcceptedOne() }
            verdict.keepRejections(in: shared.pipeline)
            answer(Answer(status: "200 OK", body: verdict.answer))
        // Nothing was accepted, so the sender will repeat the request; the rejected events are stored then, once.
        case .failure(let error):
            giveBack(after: error)
            refuse(failure(for: error))
        }
    }

    /// Lets the key send the events again that were not accepted.
    private func giveBack(after error: TrackError) {
        exchange.grant?.limiter.giveBack(exchange.countedEvents, exchange.countedBytes, in: shared, after: error)
    }

    private func failure(for error: TrackError) -> Failure {
        switch error.code.kind {
        case .cancelled: missedCommit ? .notStored(retryAfter: shared.maxWait) : shared.queueFull
        case .full: shared.queueFull
        case .unavailable: .unavailable(retryAfter: shared.pipeline.retryAfter(error) ?? .seconds(1))
        case .closed: .shuttingDown
        // `submit` is given events that were checked; the journal's other errors are answered like this, too.
        case .notStored, .invalid: .notStored(retryAfter: shared.pipeline.retryAfter(error) ?? .seconds(5))
        case .outcomeUnknown: .outcomeUnknown
        }
    }

    /// Withdraws the batch if possible; then the pipeline's decision is on its way, and this returns false.
    ///
    /// Otherwise the batch's commit is being written, and may take as long as the disk takes. Then the submission keeps the
    /// batch's memory and its rejected events, which are stored if the commit succeeds.
    func leavesCommit() -> Bool {
        guard let ticket else { return false }
        let withdrawal = shared.pipeline.withdraw(ticket)
        missedCommit = withdrawal == .uncommitted
        guard withdrawal == .committing else { return false }
        let remainder = Submission.Remainder(
            verdict: verdict,
            limiter: exchange.grant?.limiter,
            countedEvents: exchange.countedEvents,
            countedBytes: exchange.countedBytes,
            reservedBytes: exchange.reservedBytes,
            shared: shared
        )
        guard submission.leave(remainder) else { return false }
        submission = Submission(eventLoop: submission.eventLoop)
        exchange.reservedBytes = 0
        verdict = nil
        self.ticket = nil
        return true
    }
}

// MARK: - Deadlines

extension ConnectionHandler {
    /// Handles an expired deadline.
    func timerFired() {
        guard let context, clock.timerFired(for: self) else { return }
        switch clock.activity {
        case .head:
            fail(.timeout)
        case .body where phase == .receiving:
            fail(.timeout)
        case .wait:
            guard leavesCommit() else { break }
            refuse(.outcomeUnknown)
            continueAfterAnswer()
        case .check where phase == .rendering:
            abandonPlan()
        case .check:
            abandonCheck()
        case .none, .idle, .body, .answer, .linger:
            context.close(promise: nil)
        }
    }
}
