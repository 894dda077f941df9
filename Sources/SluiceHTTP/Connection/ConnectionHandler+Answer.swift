import NIOCore

/// Sending responses and closing the connection.
extension ConnectionHandler {
    /// Whether the connection ends with the current response.
    private var isLastExchange: Bool {
        !exchange.keepsAlive || ((isDraining || isInputClosed) && pending.isEmpty)
    }

    /// What the current response says about the connection.
    private var persistence: AnswerEncoder.Persistence {
        if isLastExchange { return .close }
        return exchange.isVersion10 ? .keepAlive : .implied
    }

    /// Answers a request that was received completely, and ends the exchange.
    func answer(_ status: StaticString, fields: String = "", body: [UInt8]) {
        let persistence = persistence
        let bytes = AnswerEncoder.answer(
            status: status,
            fields: exchange.fields + fields,
            body: body,
            persistence: persistence,
            withoutBody: exchange.isHead
        )
        finishExchange(with: bytes, isLast: persistence == .close)
    }

    /// Answers that a single event was accepted, with the prepared response if possible.
    func answerAcceptedOne() {
        if case .implied = persistence, exchange.fields.isEmpty {
            finishExchange(with: loop.acceptedOne, isLast: false)
        } else {
            answer("200 OK", body: Array(VerdictEncoder.acceptedOne.utf8))
        }
    }

    /// Answers a request before it is received completely; the rest of it is discarded.
    func answerEarly(_ status: StaticString, fields: String = "", body: [UInt8]?, isLast: Bool) {
        let isLast = isLast || isLastExchange
        exchange.keepsAlive = !isLast
        let bytes = AnswerEncoder.answer(
            status: status,
            fields: exchange.fields + fields,
            body: body,
            persistence: persistence,
            withoutBody: exchange.isHead
        )
        exchange.body = nil
        releaseBudget()
        if isLast {
            close(after: bytes)
        } else {
            write(bytes)
            phase = .discarding
        }
    }

    /// Answers with a failure and closes the connection.
    func fail(_ failure: Failure) {
        let (status, body) = exchange.language.answer(to: failure)
        answerEarly(status, fields: failure.fields, body: body, isLast: true)
    }

    /// Writes a response, which is flushed with others; `reservedBytes` of memory are released when it was sent.
    func write(_ bytes: ByteBuffer, reservedBytes: Int = 0) {
        needsFlush = true
        guard let context else { return shared.budget.release(reservedBytes) }
        guard reservedBytes > 0 else { return context.write(wrapOutboundOut(bytes), promise: nil) }
        context.write(wrapOutboundOut(bytes), promise: releasing(reservedBytes, of: context))
    }

    /// A promise that releases memory when its write succeeds or fails.
    private func releasing(_ bytes: Int, of context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let budget = shared.budget
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in budget.release(bytes) }
        return promise
    }

    /// Ends an exchange that was answered before its request was received completely.
    func endExchange() {
        exchange = Exchange()
        if isDraining || isInputClosed, pending.isEmpty {
            close(after: ByteBuffer())
        } else {
            phase = .idle
        }
    }

    private func finishExchange(with bytes: ByteBuffer, isLast: Bool) {
        // A long response keeps its reserved memory until it is sent, because the sender may not read it.
        let held = bytes.readableBytes > MemoryBudget.freeAnswerBytes ? exchange.reservedBytes : 0
        exchange.reservedBytes -= held
        let unused = max(0, held - bytes.readableBytes)
        shared.budget.release(unused)
        releaseBudget()
        exchange = Exchange()
        if isLast {
            close(after: bytes, reservedBytes: held - unused)
        } else {
            phase = .idle
            write(bytes, reservedBytes: held - unused)
        }
    }

    /// Writes the last bytes, then closes the output, then waits for the sender to close.
    ///
    /// If both directions were closed at once, the kernel would answer bytes that are still arriving with a reset, and the
    /// sender might lose the response.
    func close(after bytes: ByteBuffer, reservedBytes: Int = 0) {
        guard let context, phase != .closing else { return shared.budget.release(reservedBytes) }
        phase = .closing
        releaseBudget()
        exchange = Exchange()
        work = nil
        clearPending()
        needsFlush = false
        let written = releasing(reservedBytes, of: context)
        written.futureResult.assumeIsolated().whenComplete { [self] _ in closeOutput() }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: written)
        updateDeadline()
        releaseRead()
    }

    private func closeOutput() {
        guard let context else { return }
        if isInputClosed {
            context.close(promise: nil)
        } else {
            context.close(mode: .output, promise: nil)
            clock.begin(.linger, request: requestNumber, timeouts: shared.timeouts, for: self)
        }
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
            case .checking: .check
            case .waiting: .wait
            case _ where !isWritable: .answer
            case .receiving, .discarding: .body
            case .idle: hasPartialHead ? .head : .idle
            }
        clock.begin(activity, request: requestNumber, timeouts: shared.timeouts, for: self)
    }
}
