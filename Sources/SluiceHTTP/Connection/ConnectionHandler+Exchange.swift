import EventPipeline
import EventValidation
import NIOCore
import NIOHTTP1

/// From a request to its answer.
extension ConnectionHandler {
    /// Decides about a request by its header alone, before a byte of its body.
    func begin(_ requestHead: HTTPRequestHead) {
        let head = RequestHead(requestHead)
        exchange = Exchange(head)
        switch head.disposition(maximumBodyBytes: shared.maximumBodyBytes) {
        case .receive(let format, let isGzip):
            exchange.format = format
            exchange.isGzip = isGzip
            receiveBody(of: head)
        case .live:
            answerEarly("200 OK", body: AnswerEncoder.healthy, isLast: false)
        case .ready:
            let reasons = isDraining ? [.shuttingDown] : shared.pipeline.unreadyReasons
            if reasons.isEmpty {
                answerEarly("200 OK", body: AnswerEncoder.healthy, isLast: false)
            } else {
                refuse(.notReady(reasons), head)
            }
        case .refuse(let failure):
            refuse(failure, head)
        }
    }

    /// Takes one piece of the body, if there is room for it.
    func receive(_ piece: ByteBuffer) {
        exchange.bodyBytes += piece.readableBytes
        guard exchange.bodyBytes <= shared.maximumBodyBytes else {
            return fail(.tooLarge(limit: shared.maximumBodyBytes))
        }
        guard reserve(exchange.bodyBytes) else { return fail(.overloaded) }
        exchange.append(piece)
    }

    /// Throws away a piece of a body that was answered before.
    func discard(_ piece: ByteBuffer) {
        exchange.bodyBytes += piece.readableBytes
        if exchange.bodyBytes > shared.maximumBodyBytes { close(after: ByteBuffer()) }
    }

    private func receiveBody(of head: RequestHead) {
        guard reserve(head.contentLength ?? 0) else { return refuse(.overloaded, head) }
        phase = .receiving
        if head.expectsContinue { write(AnswerEncoder.goOn) }
    }

    /// Refuses a request by its header.
    ///
    /// If the sender may hold the body back, or sends one that is larger than what is worth throwing away, nobody knows
    /// where the next request begins, and the connection ends.
    private func refuse(_ failure: Failure, _ head: RequestHead) {
        let isLast =
            failure.endsConnection || head.expectsContinue || (head.contentLength ?? 0) > shared.maximumBodyBytes
        answerEarly(failure.status, fields: failure.fields, body: AnswerEncoder.body(of: failure), isLast: isLast)
    }

    /// Refuses a request that has been received to its end.
    func refuse(_ failure: Failure) {
        if failure.endsConnection { exchange.keepsAlive = false }
        answer(failure.status, fields: failure.fields, body: AnswerEncoder.body(of: failure))
    }

    /// Makes sure of the memory for a body of so many bytes.
    private func reserve(_ bytes: Int) -> Bool {
        guard bytes > max(MemoryBudget.freeBodyBytes, exchange.reservedBytes) else { return true }
        // Chunked bodies do not tell their length, so they get some more than they have.
        return reserve(exactly: exchange.contentLength ?? bytes + MemoryBudget.freeBodyBytes)
    }

    /// Makes sure of so much memory for the exchange and all that belongs to it; what it has beyond that, it keeps.
    func reserve(exactly bytes: Int, free: Int = MemoryBudget.freeBodyBytes) -> Bool {
        guard bytes > max(free, exchange.reservedBytes) else { return true }
        guard shared.budget.reserve(bytes - exchange.reservedBytes) else { return false }
        exchange.reservedBytes = bytes
        return true
    }
}

// MARK: - The pipeline's word

extension ConnectionHandler {
    /// Hands the accepted events of a body over; the answer is prepared before, because from then on it has to be given.
    func submit(_ body: CheckedBody) {
        let verdict = body.batch?.count == 1 && body.rejected.count == 0 ? nil : Verdict(of: body)
        // From here on the batch, the answer and the rejections take memory in place of the body.
        let bytes = (body.batch?.byteCount ?? 0) + (verdict?.byteCount ?? 0)
        let isLong = verdict?.isLong ?? false
        guard reserve(exactly: bytes, free: isLong ? 0 : MemoryBudget.freeBodyBytes) else { return refuse(.overloaded) }
        shared.budget.release(max(0, exchange.reservedBytes - bytes))
        exchange.reservedBytes = min(exchange.reservedBytes, bytes)
        guard let batch = body.batch else {
            verdict?.keepRejections(in: shared.pipeline)
            return answer("422 Unprocessable Content", body: verdict?.answer ?? [])
        }
        let (outcome, ticket) = submission.submit(batch, to: shared.pipeline, for: self)
        self.verdict = verdict
        if let outcome {
            answer(outcome)
        } else {
            self.ticket = ticket
            phase = .waiting
        }
    }

    /// Goes on when the pipeline has decided about the batch that was waited for.
    func resume(with outcome: Submission.Outcome) {
        ticket = nil
        guard context != nil, phase == .waiting else {
            // The sender is gone. What was taken is taken, and what was rejected with it is kept.
            if case .success = outcome { verdict?.keepRejections(in: shared.pipeline) }
            return
        }
        answer(outcome)
        continueAfterAnswer()
    }

    /// Turns to what was read behind a request that has its answer now.
    func continueAfterAnswer() {
        processPending()
        updateDeadline()
    }

    private func answer(_ outcome: Submission.Outcome) {
        let verdict = verdict.take()
        switch outcome {
        case .success:
            guard let verdict else { return answerAcceptedOne() }
            verdict.keepRejections(in: shared.pipeline)
            answer("200 OK", body: verdict.answer)
        // Nothing was taken, so the sender will send it all again, and the rejected events are not kept twice.
        case .failure(.withdrawn):
            refuse(missedCommit ? .notStored(retryAfter: shared.maxWait) : shared.queueFull)
        case .failure(.closed):
            refuse(.shuttingDown)
        case .failure(.notStored(let error)):
            refuse(.notStored(retryAfter: shared.pipeline.retryAfter(error)))
        case .failure(.outcomeUnknown):
            refuse(.outcomeUnknown)
        }
    }

    /// Takes the batch back where that can be done; then the pipeline's word is on its way, and this returns false.
    ///
    /// Otherwise its commit is being written, for as long as the disk likes: the batch is left to itself, with the memory that it
    /// takes and what is to be kept if it is committed after all.
    func leavesCommit() -> Bool {
        guard let ticket else { return false }
        let withdrawal = shared.pipeline.withdraw(ticket)
        missedCommit = withdrawal == .uncommitted
        guard withdrawal == .committing else { return false }
        let remainder = Submission.Remainder(
            verdict: verdict,
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
    /// Acts on a deadline that has passed.
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
        case .check:
            abandonCheck()
        case .none, .idle, .body, .answer, .linger:
            context.close(promise: nil)
        }
    }
}
