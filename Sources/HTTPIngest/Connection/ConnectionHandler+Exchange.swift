import EventPipeline
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
        case .ready where shared.pipeline.isReady && !isDraining:
            answerEarly("200 OK", body: AnswerEncoder.healthy, isLast: false)
        case .ready:
            refuse(.notReady, head)
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

    /// Checks a body that has come to its end, and hands what is good in it over.
    func finishBody() {
        var body = exchange.body ?? ByteBuffer()
        exchange.body = nil
        if exchange.isGzip {
            do {
                body = try loop.inflate(body)
            } catch let error as GzipError where error.code == .outputTooLarge {
                return refuse(.tooLarge(limit: shared.maximumBodyBytes))
            } catch {
                return refuse(.invalidGzip)
            }
        }
        do {
            submit(try loop.check(body, as: exchange.format))
        } catch let malformed as MalformedBody {
            let isTooLarge = malformed.violation.code == .tooLarge
            answer(
                isTooLarge ? "413 Content Too Large" : "400 Bad Request",
                body: AnswerEncoder.body(of: malformed)
            )
        } catch {
            refuse(.noMemory)
        }
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
    private func refuse(_ failure: Failure) {
        if failure.endsConnection { exchange.keepsAlive = false }
        answer(failure.status, fields: failure.fields, body: AnswerEncoder.body(of: failure))
    }

    /// Makes sure of the memory for a body of so many bytes.
    private func reserve(_ bytes: Int) -> Bool {
        guard bytes > max(BodyBudget.freeBytesPerBody, exchange.reservedBytes) else { return true }
        // Chunked bodies do not tell their length, so they get some more than they have.
        let wanted = exchange.contentLength ?? bytes + BodyBudget.freeBytesPerBody
        guard shared.budget.reserve(wanted - exchange.reservedBytes) else { return false }
        exchange.reservedBytes = wanted
        return true
    }
}

// MARK: - The pipeline's word

extension ConnectionHandler {
    private func submit(_ body: CheckedBody) {
        guard let batch = body.batch else {
            keep(body.rejections)
            let verdicts = AnswerEncoder.verdicts(accepted: 0, rejections: body.rejections)
            return answer("422 Unprocessable Content", body: verdicts)
        }
        checked = (batch.count, body.rejections)
        let (outcome, ticket) = submission.submit(batch, to: shared.pipeline, for: self)
        if let outcome {
            answer(outcome)
        } else {
            self.ticket = ticket
            phase = .waiting
            // From here on the batch takes memory in place of the body, and so do the rejections until they are told.
            let memory = body.rejections.reduce(batch.byteCount) { $0 + $1.approximateBytes }
            let uncounted = memory - max(BodyBudget.freeBytesPerBody, exchange.reservedBytes)
            if uncounted > 0 {
                shared.budget.add(uncounted)
                exchange.reservedBytes += uncounted
            }
        }
    }

    /// Goes on when the pipeline has decided about the batch that was waited for.
    func resume(with outcome: Submission.Outcome) {
        ticket = nil
        guard context != nil, phase == .waiting else {
            // The sender is gone. What was taken is taken, and what was rejected with it is kept.
            if case .success = outcome { keep(checked.rejections) }
            return
        }
        answer(outcome)
        processPending()
        updateDeadline()
    }

    private func answer(_ outcome: Submission.Outcome) {
        let (accepted, rejections) = checked
        checked = (0, [])
        switch outcome {
        case .success where accepted == 1 && rejections.isEmpty:
            answerAcceptedOne()
        case .success:
            keep(rejections)
            answer("200 OK", body: AnswerEncoder.verdicts(accepted: accepted, rejections: rejections))
        // Nothing was taken, so the sender will send it all again, and the rejected events are not kept twice.
        case .failure(.withdrawn):
            refuse(shared.queueFull)
        case .failure(.closed):
            refuse(.shuttingDown)
        case .failure(.notStored(let error)):
            refuse(.notStored(retryAfter: shared.pipeline.retryAfter(error)))
        }
    }

    private func keep(_ rejections: [Rejection]) {
        if !rejections.isEmpty { shared.pipeline.quarantine(rejections, source: "http") }
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
            // The pipeline answers with `withdrawn`, or has taken the batch just now; either way it calls back.
            if let ticket { shared.pipeline.withdraw(ticket) }
        case .none, .idle, .body, .answer, .linger:
            context.close(promise: nil)
        }
    }
}
