import EventPipeline
import NIOCore
import NIOHTTP1

/// Answers the requests of one HTTP/1 connection, one after another, or the one of an HTTP/2 stream.
///
/// It follows a request decoder in the pipeline, and writes encoded responses. While a request waits for the pipeline, or
/// the sender leaves responses unread, nothing more is read; what the decoder already had (one read of at most 64 KiB) waits
/// in `pending`. Responses to all requests of one read are flushed together.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = Never

    /// The state of the connection.
    enum Phase {
        /// Between requests. Can transition to: receiving, rendering or discarding, with a header.
        case idle
        /// The body is being received. Can transition to: checking, with its end; discarding or closing, when it is
        /// refused.
        case receiving
        /// The body is being inflated and checked, in turns. Can transition to: waiting, idle or closing, with the result.
        case checking
        /// The plan's schema is being rendered. Can transition to: discarding or closing, with the result or at the deadline.
        case rendering
        /// The request is answered, and the rest of it is discarded. Can transition to: idle or closing, with its end.
        case discarding
        /// The pipeline has the batch. Can transition to: idle or closing, with its decision.
        case waiting
        /// The last response is written, and input is discarded until the sender closes. Final.
        case closing
    }

    /// Input that was read while the connection was blocked.
    enum Item {
        case part(HTTPServerRequestPart)
        case failure(Failure)
    }

    /// The maximum number of bytes in `pending`.
    ///
    /// Only a sender that closes its side before it has its response can reach it: then NIO reads all input without being
    /// asked to.
    static let maximumPendingBytes = 256 << 10

    let shared: IngestContext
    let loop: LoopResources
    let admission: LiveConnections.Admission
    let version: ConnectionVersion
    let clientAddress: ClientAddress
    /// The sender, if no proxy states another one.
    let peerSender: NetworkRange.Address?
    let connectionKey: ConnectionKey
    var submission: Submission

    var context: ChannelHandlerContext?
    var phase = Phase.idle
    var exchange = Exchange()
    /// The body that is being inflated and checked, between its turns.
    var work: BodyWork?
    var ticket: Pipeline.Ticket?
    /// The response for when the pipeline accepts the batch; `nil` for a single accepted event.
    var verdict: Verdict?
    /// Whether the batch was withdrawn because its commit did not begin in time.
    var missedCommit = false
    /// Counts requests, to tell which one a deadline belongs to.
    var requestNumber: UInt64 = 0
    var clock = ConnectionClock()

    var isDraining = false
    var isWritable = true
    var isInputClosed = false
    private var isProcessing = false
    var needsFlush = false
    var isReadHeld = false
    var hasPartialHead = false
    private var hasOverflowed = false
    private var hasReadPart = false
    var pending = CircularBuffer<Item>(initialCapacity: 0)
    private var pendingBytes = 0
    private var pendingRequests = 0
    /// How much memory `pending` has reserved.
    private var pendingReservedBytes = 0

    init(
        shared: IngestContext,
        loop: LoopResources,
        admission: LiveConnections.Admission,
        version: ConnectionVersion,
        peer: SocketAddress?,
        connectionKey: ConnectionKey,
        eventLoop: any EventLoop
    ) {
        self.shared = shared
        self.loop = loop
        self.admission = admission
        self.version = version
        clientAddress = ClientAddress(peer: peer, proxies: shared.proxies)
        peerSender = clientAddress.sender(forwardedFor: [])
        self.connectionKey = connectionKey
        submission = Submission(eventLoop: eventLoop)
    }
}

// MARK: - The channel's events

extension ConnectionHandler {
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin() }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin()
    }

    private func begin() {
        if case .refuse(let limit) = admission {
            fail(limit == .all ? .tooManyConnections : .tooManyConnectionsFromAddress)
        }
        updateDeadline()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        let part = unwrapInboundIn(data)
        if version == .http2, case .end = part { isInputClosed = true }
        if isBlocked || !pending.isEmpty {
            enqueue(.part(part))
        } else {
            process(part)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes without a complete part are the beginning of a header.
        if phase == .idle, !hasReadPart { hasPartialHead = true }
        hasReadPart = false
        flushIfNeeded()
        updateDeadline()
    }

    /// Asks for more input only if it can be handled.
    func read(context: ChannelHandlerContext) {
        if isBlocked || !pending.isEmpty {
            isReadHeld = true
        } else {
            context.read()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if isWritable, !isProcessing { processPending() }
        updateDeadline()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed as ChannelEvent:
            isInputClosed = true
            endInput()
        case is ChannelShouldQuiesceEvent:
            // A stream ends with its response anyway, and its connection tells the sender to begin no others.
            guard version == .http1 else { return }
            isDraining = true
            if phase == .idle, pending.isEmpty, !hasPartialHead {
                // No request is in progress, so there is no need to wait for the sender to close.
                isInputClosed = true
                close()
            }
        case is ConnectionEnding:
            endUnfinishedRequest()
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        hasReadPart = true
        // The decoder throws this for all input after its first error, which was handled.
        if case ByteToMessageDecoderError.dataReceivedInErrorState = error { return }
        guard let failure = Self.failure(for: error) else {
            context.close(promise: nil)
            return
        }
        if isBlocked || !pending.isEmpty {
            enqueue(.failure(failure))
        } else {
            process(failure)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        clock.stop()
        _ = leavesCommit()
        ticket = nil
        releaseBudget()
        clearPending()
        work = nil
        self.context = nil
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        clock.stop()
        self.context = nil
    }

    /// The response to a decoder's error; `nil` for an error that cannot be answered.
    private static func failure(for error: any Error) -> Failure? {
        switch error {
        case HTTPParserError.headerOverflow: .headerTooLarge
        case HTTPParserError.invalidEOFState: .incompleteRequest
        case is HTTPParserError, is NIOHTTPDecoderError: .badRequest
        default: nil
        }
    }
}

// MARK: - Order and backpressure

extension ConnectionHandler {
    /// Whether the next request has to wait.
    private var isBlocked: Bool {
        phase == .waiting || phase == .checking || phase == .rendering || (!isWritable && phase != .closing)
    }

    private func enqueue(_ item: Item) {
        if case .part(.body(let piece)) = item { pendingBytes += piece.readableBytes }
        if case .part(.head) = item { pendingRequests += 1 }
        pendingBytes += 256
        // Later requests get no response then, which tells the sender that they were not accepted.
        if pendingRequests > shared.maximumPipelinedRequests || pendingBytes > Self.maximumPendingBytes
            || !reservePending()
        {
            hasOverflowed = true
        }
        if !hasOverflowed { pending.append(item) }
    }

    /// Reserves memory for `pending` beyond the one read that is counted for every connection.
    private func reservePending() -> Bool {
        let step = MemoryBudget.freeBodyBytes
        guard pendingBytes > step + pendingReservedBytes else { return true }
        guard shared.budget.reserve(step) else { return false }
        pendingReservedBytes += step
        return true
    }

    /// Discards the pending input and releases its memory.
    func clearPending() {
        pending.removeAll()
        pendingBytes = 0
        pendingRequests = 0
        shared.budget.release(pendingReservedBytes)
        pendingReservedBytes = 0
    }

    private func process(_ part: HTTPServerRequestPart) {
        switch (phase, part) {
        case (.idle, .head(let head)):
            hasPartialHead = false
            requestNumber &+= 1
            begin(head)
        case (.receiving, .body(let piece)):
            receive(piece)
        case (.receiving, .end):
            finishBody()
        case (.discarding, .body(let piece)):
            discard(piece)
        case (.discarding, .end):
            endExchange()
        default:
            // Input is ignored while closing; the decoder produces parts in no other order.
            break
        }
    }

    private func process(_ failure: Failure) {
        switch phase {
        case .idle, .receiving: fail(failure)
        case .discarding: close()
        case .checking, .waiting, .rendering, .closing: break
        }
        flushIfNeeded()
    }

    /// Handles the pending input, and then asks for more.
    func processPending() {
        isProcessing = true
        repeat {
            while !isBlocked, let item = pending.popFirst() {
                switch item {
                case .part(let part):
                    if case .head = part { pendingRequests -= 1 }
                    process(part)
                case .failure(let failure): process(failure)
                }
            }
            // The flush may make the channel writable again, and nothing else would continue with the rest.
            flushIfNeeded()
        } while !isBlocked && !pending.isEmpty
        isProcessing = false
        guard !isBlocked, pending.isEmpty else { return }
        clearPending()
        if hasOverflowed { close() }
        if isInputClosed { endInput() }
        releaseRead()
    }

    /// Asks for the input whose read was delayed.
    func releaseRead() {
        guard isReadHeld else { return }
        isReadHeld = false
        context?.read()
    }

    private func endInput() {
        guard !isBlocked, pending.isEmpty else { return }
        switch phase {
        case .idle, .discarding: close()
        // All responses were sent when the output was closed.
        case .closing where clock.activity == .linger: context?.close(promise: nil)
        case .receiving, .checking, .waiting, .rendering, .closing: break
        }
    }

    private func flushIfNeeded() {
        guard needsFlush else { return }
        needsFlush = false
        context?.flush()
    }
}
