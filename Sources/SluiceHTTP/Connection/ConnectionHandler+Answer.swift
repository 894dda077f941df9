import NIOCore

/// How answers leave, and how a connection ends.
extension ConnectionHandler {
    /// Whether the connection is to end with the present answer.
    private var isLastExchange: Bool {
        !exchange.keepsAlive || ((isDraining || isInputClosed) && pending.isEmpty)
    }

    /// How the present answer speaks about the connection.
    private var persistence: AnswerEncoder.Persistence {
        if isLastExchange { return .close }
        return exchange.isVersion10 ? .keepAlive : .implied
    }

    /// Answers a request that has been received to its end, and goes on to the next.
    func answer(_ status: StaticString, fields: String = "", body: [UInt8]) {
        let persistence = persistence
        let bytes = AnswerEncoder.answer(
            status: status,
            fields: fields,
            body: body,
            persistence: persistence,
            withoutBody: exchange.isHead
        )
        finishExchange(with: bytes, isLast: persistence == .close)
    }

    /// Answers that everything was taken, in the way that costs least.
    func answerAcceptedOne() {
        if case .implied = persistence {
            finishExchange(with: loop.acceptedOne, isLast: false)
        } else {
            answer("200 OK", body: Array(AnswerEncoder.acceptedOne.utf8))
        }
    }

    /// Answers a request whose end is not there yet; the rest of it is thrown away.
    func answerEarly(_ status: StaticString, fields: String = "", body: [UInt8], isLast: Bool) {
        let isLast = isLast || isLastExchange
        exchange.keepsAlive = !isLast
        let bytes = AnswerEncoder.answer(
            status: status,
            fields: fields,
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
        answerEarly(failure.status, fields: failure.fields, body: AnswerEncoder.body(of: failure), isLast: true)
    }

    /// Writes an answer, to be flushed with others; `reservedBytes` of memory are given back when it has left.
    func write(_ bytes: ByteBuffer, reservedBytes: Int = 0) {
        needsFlush = true
        guard let context else { return shared.budget.release(reservedBytes) }
        guard reservedBytes > 0 else { return context.write(wrapOutboundOut(bytes), promise: nil) }
        context.write(wrapOutboundOut(bytes), promise: releasing(reservedBytes, of: context))
    }

    /// A promise that gives memory back when what it is for has left, or cannot.
    private func releasing(_ bytes: Int, of context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let budget = shared.budget
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.whenComplete { _ in budget.release(bytes) }
        return promise
    }

    /// Ends an exchange that was answered before its request had come to its end.
    func endExchange() {
        exchange = Exchange()
        if isDraining || isInputClosed, pending.isEmpty {
            close(after: ByteBuffer())
        } else {
            phase = .idle
        }
    }

    private func finishExchange(with bytes: ByteBuffer, isLast: Bool) {
        // A long answer keeps the memory that was reserved for it until it has left: a sender need not read it.
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

    /// Writes the last bytes, then closes the output, then waits a while for the sender to close.
    ///
    /// Closing both ways at once would make the kernel answer bytes still under way with a reset, and the reset would
    /// take the answer with it.
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

    /// Gives the memory of a large body back.
    func releaseBudget() {
        guard exchange.reservedBytes > 0 else { return }
        shared.budget.release(exchange.reservedBytes)
        exchange.reservedBytes = 0
    }

    /// Sets the clock for what the connection does now.
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
