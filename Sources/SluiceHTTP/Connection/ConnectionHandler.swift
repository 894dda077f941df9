import EventPipeline
import EventValidation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import PortDefinitions

/// Answers the requests of one HTTP/1 connection, one after another, or the one of an HTTP/2 stream.
///
/// It follows a request decoder in the pipeline, and writes encoded responses. `ConnectionState` decides when to read, write and close,
/// and `RequestExchange` how to respond; the handler carries out both decisions.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never

    private let admission: LiveConnections.Admission
    private let peer: Peer
    private let loop: LoopResources
    private var state: ConnectionState
    private var exchange = RequestExchange()
    private var submission: Submission
    /// Withdraws the batch that the pipeline has.
    private var ticket: Pipeline.Ticket?
    /// Whether the batch was withdrawn because its commit did not begin in time.
    private var missedCommit = false
    private var clock = ConnectionClock()
    private var isRunning = false
    private var context: ChannelHandlerContext?

    /// The event loop of the channel, until it is closed.
    var eventLoop: (any EventLoop)? { context?.eventLoop }

    init(
        _ version: ConnectionVersion,
        from peer: Peer,
        _ admission: LiveConnections.Admission,
        loop: LoopResources,
        eventLoop: any EventLoop
    ) {
        self.admission = admission
        self.peer = peer
        self.loop = loop
        state = ConnectionState(version, limits: loop.server.connectionLimits, budget: loop.server.budget)
        submission = Submission(eventLoop: eventLoop)
    }

    // MARK: - The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { open() }
    }

    func channelActive(context: ChannelHandlerContext) {
        open()
    }

    private func open() {
        if case .refuse(let limit) = admission, !state.isEnding {
            let failure: Failure = limit == .all ? .tooManyConnections : .tooManyConnectionsFromAddress
            respond(with: .failure(failure), isLast: true)
        }
        run()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let action = state.read(.part(unwrapInboundIn(data))) { perform(action) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        state.endRead()
        run()
    }

    func read(context: ChannelHandlerContext) {
        if state.mayRead() { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        state.setWritable(context.channel.isWritable)
        if context.channel.isWritable { run() } else { updateDeadline() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed as ChannelEvent: state.closeInput()
        case is ChannelShouldQuiesceEvent: if let action = state.drain() { perform(action) }
        case is ConnectionEnding: if let action = state.refuseUnfinishedRequest() { perform(action) }
        default: return context.fireUserInboundEventTriggered(event)
        }
        run()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        // The decoder throws this for all input after its first error, which was handled.
        case ByteToMessageDecoderError.dataReceivedInErrorState: return
        case HTTPParserError.headerOverflow: read(.headerTooLarge)
        case HTTPParserError.invalidEOFState: read(.incompleteRequest)
        case is HTTPParserError, is NIOHTTPDecoderError: read(.badRequest)
        default: context.close(promise: nil)
        }
    }

    private func read(_ failure: Failure) {
        if let action = state.read(.failure(failure)) { perform(action) }
        run()
    }

    func channelInactive(context: ChannelHandlerContext) {
        close()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        close()
    }

    private func close() {
        clock.stop()
        state.closed()
        leavePipeline()
        ticket = nil
        exchange.abandon()
        context = nil
    }

    /// Handles the timer, which may fire before the deadline.
    func timerFired() {
        guard context != nil, let activity = clock.timerFired(for: self) else { return }
        if let action = state.timeOut(activity) { perform(action) }
        run()
    }

    /// Gives the body of a request its turn; false if the request no longer waits for one.
    @discardableResult
    func takeTurn(of request: UInt64, fromAllowance: Bool) -> Bool {
        guard state.phase == .checking, request == state.requestNumber else { return false }
        perform(exchange.takeTurn(fromAllowance: fromAllowance, in: loop, from: peer))
        // The time limit applies to each turn anew.
        clock.restart()
        run()
        return true
    }

    /// Handles the pipeline's decision about the batch.
    func resume(with outcome: Submission.Outcome) {
        ticket = nil
        settle(outcome)
        run()
    }

    private func settle(_ outcome: Submission.Outcome) {
        exchange.settle(outcome, in: loop)
        // In any other phase the channel is closed.
        guard state.phase == .waiting else { return }
        respond(with: exchange.response(to: outcome, missedCommit: missedCommit, in: loop))
    }

    private func resume(with outcome: PlanOutcome, for request: UInt64) {
        guard state.phase == .rendering, request == state.requestNumber else { return }
        respond(with: exchange.response(with: outcome, in: loop))
        run()
    }

    // MARK: - Actions

    /// Performs the state's next actions, and sets the deadline.
    private func run() {
        // A flush may make the channel writable, which calls this again.
        guard !isRunning else { return }
        isRunning = true
        while let action = state.next() { perform(action) }
        isRunning = false
        updateDeadline()
    }

    private func updateDeadline() {
        guard context != nil else { return }
        clock.begin(state.activity, of: state.requestNumber, timeouts: loop.server.timeouts, for: self)
    }

    private func perform(_ action: ConnectionState.Action) {
        guard let context else { return }
        switch action {
        case .begin(let head): perform(exchange.begin(RequestHead(head), from: peer, in: loop))
        case .keep(let piece):
            if let step = exchange.keep(piece, total: state.bodyBytes, in: loop) { perform(step) }
        case .check: loop.measure(state.bodyBytes) { perform(exchange.check(in: loop, from: peer)) }
        case .fail(let failure, let isLast): respond(with: .failure(failure), isLast: isLast)
        case .leavePipeline: if leavePipeline() { respond(with: .failure(.outcomeUnknown)) }
        case .read: context.read()
        case .flush: context.flush()
        case .end:
            exchange = RequestExchange()
            context.write(NIOAny(ByteBuffer()), promise: lastWrite(in: context))
        case .closeOutput: context.close(mode: .output, promise: nil)
        case .endStream:
            // Later, because the end of the request may be the next thing that the stream reads.
            context.eventLoop.assumeIsolated().execute { [self] in
                if !state.isInputClosed { reset(.noError) }
            }
        case .refuseStream: reset(.refusedStream)
        case .close: context.close(promise: nil)
        }
    }

    private func perform(_ step: RequestExchange.Step) {
        switch step {
        case .receiveBody(let expectsContinue):
            state.receiveBody(expectsContinue: expectsContinue)
            if expectsContinue, let context { AnswerEncoder.goOn(in: state.version).write(to: context, promise: nil) }
        case .render(let plan, let events):
            render(plan, for: events)
        case .waitForTurn(let isSmall, let hadTurn):
            loop.wait(self, request: state.requestNumber, of: exchange.sender, isSmall: isSmall, hadTurn: hadTurn)
        case .submit(let batch):
            state.waitForPipeline()
            let (outcome, ticket) = submission.submit(batch, to: loop.server.pipeline, for: self)
            if let outcome { settle(outcome) } else { self.ticket = ticket }
        case .respond(let response): respond(with: response)
        }
    }

    private func render(_ plan: PlanDocuments, for events: EventSet?) {
        let waiting = NIOLoopBound(self, eventLoop: submission.eventLoop)
        let request = state.requestNumber
        let outcome = plan.outcome(for: events) { outcome in
            waiting.eventLoop.execute { waiting.value.resume(with: outcome, for: request) }
        }
        if let outcome {
            respond(with: exchange.response(with: outcome, in: loop))
        } else {
            state.waitForDocument()
        }
    }

    /// Withdraws the batch, or stops waiting for its commit if that is being written, because it may take as long as the disk takes.
    ///
    /// - Returns: Whether the connection no longer waits; if not, the pipeline's decision follows at once.
    @discardableResult
    private func leavePipeline() -> Bool {
        guard let ticket else { return false }
        let withdrawal = loop.server.pipeline.withdraw(ticket)
        missedCommit = withdrawal == .uncommitted
        guard withdrawal == .committing, submission.leave({ exchange.takeRemainder(in: loop) }) else { return false }
        submission = Submission(eventLoop: submission.eventLoop)
        self.ticket = nil
        return true
    }

    /// Writes the response to the current request.
    private func respond(with response: RequestExchange.Response, isLast: Bool = false) {
        if case .failure(let failure) = response, failure.code == .tooManyConnectionsForKey { drainHTTP2Connection() }
        guard let context else { return }
        let isLast = state.respond(isLast: isLast || response.endsConnection || !exchange.keepsAlive)
        let encoded = exchange.encode(response, isLast: isLast, for: state.version, in: loop)
        let memory = exchange.end(with: encoded)
        guard isLast || memory.byteCount > 0 else { return encoded.write(to: context, promise: nil) }
        let sent = isLast ? lastWrite(in: context) : context.eventLoop.makePromise()
        memory.release(after: sent.futureResult)
        encoded.write(to: context, promise: sent)
    }

    /// A promise for the last write, which tells the state when everything has been sent.
    private func lastWrite(in context: ChannelHandlerContext) -> EventLoopPromise<Void> {
        let promise = context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            if let action = state.sent() { perform(action) }
            run()
        }
        return promise
    }

    /// Resets the stream: `noError` if the rest of its request is not needed (RFC 9113, section 8.1), `refusedStream` if nothing of it was
    /// accepted (section 8.7).
    private func reset(_ code: HTTP2ErrorCode) {
        context?.writeAndFlush(NIOAny(HTTP2Frame.FramePayload.rstStream(code)), promise: nil)
    }

    /// Starts to drain the connection that a stream belongs to, which the response to the stream does not end.
    private func drainHTTP2Connection() {
        // The parent of an HTTP/1 connection is the listening socket.
        guard state.version == .http2 else { return }
        context?.channel.parent?.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}
