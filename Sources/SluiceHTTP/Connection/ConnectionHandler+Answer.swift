import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

/// Sending responses and closing the connection.
extension ConnectionHandler {
    /// Whether the channel ends with the current response.
    private var isLastExchange: Bool {
        version == .http2 || !exchange.keepsAlive || ((isDraining || isInputClosed) && pending.isEmpty)
    }

    /// Answers a request that was received completely, and ends the exchange.
    func answer(_ answer: Answer) {
        let isLast = isLastExchange
        finishExchange(with: encode(answer, isLast: isLast), isLast: isLast)
    }

    /// Answers that a single event was accepted, with the prepared response if possible.
    func answerAcceptedOne() {
        let isLast = isLastExchange
        let saysNothing = version == .http2 || (!isLast && !exchange.isVersion10)
        if saysNothing, exchange.fields.isEmpty {
            loop.metrics.acceptedOne(began: exchange.began)
            finishExchange(with: loop.acceptedOne(in: version), isLast: isLast)
        } else {
            answer(Answer(status: "200 OK", body: Array(VerdictEncoder.acceptedOne.utf8)))
        }
    }

    /// Answers a request before it is received completely; the rest of it is discarded.
    ///
    /// `reservedBytes` of the given budget are released when the response was sent. Default: none, of the budget of all.
    func answerEarly(
        _ answer: Answer,
        isLast: Bool = false,
        reservedBytes: Int = 0,
        of budget: MemoryBudget? = nil
    ) {
        let isLast = isLast || isLastExchange
        let encoded = encode(answer, isLast: isLast)
        exchange.keepsAlive = !isLast
        exchange.body = nil
        releaseBudget()
        if isLast {
            close(after: encoded, reservedBytes: reservedBytes, of: budget)
        } else {
            write(encoded, reservedBytes: reservedBytes, of: budget)
            phase = .discarding
        }
    }

    /// Answers with a failure and closes the channel.
    func fail(_ failure: Failure) {
        answerEarly(exchange.language.answer(to: failure), isLast: true)
    }

    private func encode(_ answer: Answer, isLast: Bool) -> EncodedAnswer {
        loop.metrics.answered(exchange.label, answer.status, began: exchange.began)
        var answer = answer
        if !exchange.fields.isEmpty { answer.fields.add(contentsOf: exchange.fields) }
        return AnswerEncoder.encode(
            answer,
            for: version,
            persistence: isLast ? .close : exchange.isVersion10 ? .keepAlive : .implied,
            withoutBody: exchange.isHead
        )
    }

    /// Writes a response, which is flushed with others; `reservedBytes` of memory are released when it was sent.
    func write(_ answer: EncodedAnswer, reservedBytes: Int = 0, of budget: MemoryBudget? = nil) {
        needsFlush = true
        guard let context else { return (budget ?? shared.budget).release(reservedBytes) }
        write(answer, to: context, promise: reservedBytes > 0 ? releasing(reservedBytes, of: budget, in: context) : nil)
    }

    /// Writes a response without a flush; for a stream it is complete, except if it is informational.
    private func write(_ answer: EncodedAnswer, to context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        typealias Frame = HTTP2Frame.FramePayload
        switch answer {
        case .bytes(let bytes):
            context.write(NIOAny(bytes), promise: promise)
        case .frames(let header, let body?):
            context.write(NIOAny(Frame.headers(.init(headers: header))), promise: nil)
            context.write(NIOAny(Frame.data(.init(data: .byteBuffer(body), endStream: true))), promise: promise)
        case .frames(let header, nil):
            context.write(
                NIOAny(Frame.headers(.init(headers: header, endStream: !header.isInformational))),
                promise: promise
            )
        }
    }

    /// A promise that releases memory when its write succeeds or fails.
    private func releasing(
        _ bytes: Int,
        of budget: MemoryBudget?,
        in context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        let budget = budget ?? shared.budget
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in budget.release(bytes) }
        return promise
    }

    /// Ends an exchange that was answered before its request was received completely.
    func endExchange() {
        exchange = Exchange()
        if isDraining || isInputClosed, pending.isEmpty {
            close()
        } else {
            phase = .idle
        }
    }

    private func finishExchange(with answer: EncodedAnswer, isLast: Bool) {
        // A long response keeps its reserved memory until it is sent, because the sender may not read it.
        let held = answer.byteCount > MemoryBudget.freeAnswerBytes ? exchange.reservedBytes : 0
        exchange.reservedBytes -= held
        let unused = max(0, held - answer.byteCount)
        shared.budget.release(unused)
        releaseBudget()
        exchange = Exchange()
        if isLast {
            close(after: answer, reservedBytes: held - unused)
        } else {
            phase = .idle
            write(answer, reservedBytes: held - unused)
        }
    }

    /// Writes the last response, if there is one, then closes the output, then waits for the sender to close.
    ///
    /// If both directions were closed at once, the kernel would answer bytes that are still arriving with a reset, and the
    /// sender might lose the response.
    func close(after answer: EncodedAnswer? = nil, reservedBytes: Int = 0, of budget: MemoryBudget? = nil) {
        guard let context, phase != .closing else { return (budget ?? shared.budget).release(reservedBytes) }
        if version == .http2, answer == nil { return context.close(promise: nil) }
        phase = .closing
        releaseBudget()
        exchange = Exchange()
        work = nil
        clearPending()
        needsFlush = false
        let written = releasing(reservedBytes, of: budget, in: context)
        written.futureResult.assumeIsolated().whenComplete { [self] _ in closeOutput() }
        if let answer {
            write(answer, to: context, promise: written)
        } else {
            context.write(NIOAny(ByteBuffer()), promise: written)
        }
        context.flush()
        updateDeadline()
        releaseRead()
    }

    private func closeOutput() {
        guard let context else { return }
        if version == .http2 {
            endStream(on: context.eventLoop)
        } else if isInputClosed {
            context.close(promise: nil)
        } else {
            context.close(mode: .output, promise: nil)
            clock.begin(.linger, request: requestNumber, timeouts: shared.timeouts, for: self)
        }
    }

    /// Tells the sender that the rest of its request is not needed; a stream whose request is complete has ended.
    ///
    /// See RFC 9113, section 8.1.
    private func endStream(on eventLoop: any EventLoop) {
        // Later, because the end of the request may be the next thing that the stream reads.
        eventLoop.assumeIsolated().execute { [self] in
            guard let context, !isInputClosed else { return }
            context.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(.noError)), promise: nil)
        }
    }

    /// Resets a stream whose request will not be complete; nothing of it was accepted, so its sender may send it again.
    ///
    /// See RFC 9113, section 8.7.
    func endUnfinishedRequest() {
        guard let context, version == .http2, !isInputClosed, phase != .closing else { return }
        context.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(.refusedStream)), promise: nil)
    }

    /// Releases the memory that the exchange reserved.
    func releaseBudget() {
        guard exchange.reservedBytes > 0 else { return }
        shared.budget.release(exchange.reservedBytes)
        exchange.reservedBytes = 0
    }

    /// Sets the deadline for what the connection does now.
    func updateDeadline() {
        guard context != nil else { return }
        let activity: ConnectionClock.Activity =
            switch phase {
            case .closing: clock.activity == .linger ? .linger : .answer
            case .checking, .rendering: .check
            case .waiting: .wait
            case _ where !isWritable: .answer
            case .receiving, .discarding: .body
            case .idle: hasPartialHead ? .head : .idle
            }
        clock.begin(activity, request: requestNumber, timeouts: shared.timeouts, for: self)
    }
}

extension HPACKHeaders {
    fileprivate var isInformational: Bool { first(name: ":status")?.first == "1" }
}
