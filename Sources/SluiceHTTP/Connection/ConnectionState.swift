package import NIOCore
package import NIOHTTP1

/// The version of HTTP that a channel speaks.
package enum ConnectionVersion {
    /// HTTP/1.0 or HTTP/1.1: the channel is a connection, with one exchange after another.
    case http1
    /// HTTP/2: the channel is a stream of a connection, with one exchange.
    case http2
}

/// The state machine of a connection: it takes the channel's events and the progress of the current request, and returns what the
/// handler has to do.
///
/// An HTTP/1 connection has one request after another, an HTTP/2 stream has one. While a request waits for the event loop or the pipeline,
/// and while the sender leaves too many responses unread, no input is handled. Input that arrives meanwhile is pending, and no more
/// is read once there is some: from HTTP/1, one read of at most 64 KiB.
///
/// After each event, the handler calls `next` and carries out what it returns, until that is `nil`.
package struct ConnectionState: ~Copyable {
    package enum Phase: CaseIterable, Sendable {
        /// Between requests.
        ///
        /// Can transition to `deciding` with a header, and to `closing` when the connection ends.
        case idle
        /// The handler decides by the header.
        ///
        /// Can transition to `receiving` or `rendering` if the request is accepted, and to `discarding` or `closing` with a response.
        case deciding
        /// The body is being received.
        ///
        /// Can transition to `checking` with its end, and to `closing` with a response or when too much input is pending.
        case receiving
        /// The body is being inflated and checked, in turns.
        ///
        /// Can transition to `waiting` with the result, and to `idle` or `closing` with a response.
        case checking
        /// The pipeline has the batch.
        ///
        /// Can transition to `idle` or `closing` with a response.
        case waiting
        /// The plan's schema is being rendered.
        ///
        /// Can transition to `discarding` or `closing` with a response.
        case rendering
        /// The request has its response, and the rest of it is discarded.
        ///
        /// Can transition to `idle` with its end, and to `closing` when it is too long or the connection ends.
        case discarding
        /// The last response has been written, and input is discarded.
        ///
        /// Can transition to `lingering` or `closed` when everything has been sent.
        case closing
        /// The output is closed, and input is discarded.
        ///
        /// If both directions were closed at once, the kernel would answer bytes that are still arriving with a reset, and the sender
        /// might lose the response. Can transition to `closed` when the sender closes its side, or does not in time.
        case lingering
        /// The channel is closed or being closed. Each phase can transition to it. Final.
        case closed
    }

    /// What the handler has to do.
    package enum Action {
        /// Decide by the header of a request; then call `receiveBody`, `waitForDocument` or `respond`.
        case begin(HTTPRequestHead)
        /// Keep a piece of the body; call `respond` if there is no memory for it.
        case keep(ByteBuffer)
        /// Inflate and check the body, which is complete, in one or more turns; then call `waitForPipeline` or `respond`.
        case check
        /// Respond with a failure, even if the request still waits for the event loop or the plan's schema.
        case fail(Failure, isLast: Bool)
        /// Withdraw the batch. If that is too late, stop waiting for its commit, and respond.
        case leavePipeline
        /// Ask for more input.
        case read
        /// Send what has been written.
        case flush
        /// Discard the current request, write nothing more, and call `sent` when everything has been sent.
        case end
        /// Close the output.
        case closeOutput
        /// Tell the sender of an HTTP/2 stream that the rest of its request is not needed, unless the request has ended by then.
        case endStream
        /// Tell the sender of an HTTP/2 stream that nothing of its request was accepted, so that it may send it again.
        case refuseStream
        /// Close the channel.
        case close
    }

    package struct Limits: Sendable {
        package var bodyBytes: Int
        /// The number of requests of a connection.
        package var requests: UInt64
        /// The number of requests that are pending.
        package var pipelinedRequests: Int

        package init(bodyBytes: Int, requests: UInt64, pipelinedRequests: Int) {
            self.bodyBytes = bodyBytes
            self.requests = requests
            self.pipelinedRequests = pipelinedRequests
        }
    }

    package let version: ConnectionVersion
    private let limits: Limits
    package private(set) var phase = Phase.idle
    /// The number of the current request, which identifies late callbacks of earlier ones.
    package private(set) var requestNumber: UInt64 = 0
    /// The size of the body of the current request, including what was discarded.
    package private(set) var bodyBytes = 0

    private var pending: PendingInput
    /// Whether the sender has closed its side, or the request of a stream is complete.
    package private(set) var isInputClosed = false
    private var isDraining = false
    private var isWritable = true
    private var needsFlush = false
    /// Whether more input was asked for while it could not be handled.
    private var isReadHeld = false
    /// Whether the current read has brought a part or a failure.
    private var hasReadItem = false
    /// Whether the beginning of a header was read.
    private var hasPartialHead = false

    package init(_ version: ConnectionVersion, limits: Limits, budget: MemoryBudget) {
        self.version = version
        self.limits = limits
        pending = PendingInput(maximumRequests: limits.pipelinedRequests, budget: budget)
    }

    /// What the connection does now, for its deadline.
    package var activity: ConnectionClock.Activity {
        switch phase {
        case .closing: .respond
        case .lingering, .closed: .linger
        case .checking, .rendering: .check
        case .waiting: .wait
        case _ where !isWritable: .respond
        case .receiving, .discarding: .body
        case .idle, .deciding: hasPartialHead ? .head : .idle
        }
    }

    /// Whether input has to wait.
    private var isBlocked: Bool {
        switch phase {
        case .checking, .waiting, .rendering: true
        case .closing, .lingering, .closed: false
        case .idle, .deciding, .receiving, .discarding: !isWritable
        }
    }

    /// Whether a request was received completely and waits for its response.
    private var isAnsweringCompleteRequest: Bool { phase == .checking || phase == .waiting }

    /// Whether the last response has been written.
    package var isEnding: Bool {
        switch phase {
        case .closing, .lingering, .closed: true
        case .idle, .deciding, .receiving, .checking, .waiting, .rendering, .discarding: false
        }
    }

    private var canHandleInput: Bool { !isBlocked && pending.isEmpty }
}

// MARK: - The channel

extension ConnectionState {
    /// Handles a part of a request, or an error of the decoder.
    ///
    /// - Returns: What to do with it; `nil` if it is pending or ignored.
    package mutating func read(_ item: PendingInput.Item) -> Action? {
        hasReadItem = true
        if version == .http2, case .part(.end) = item { isInputClosed = true }
        guard canHandleInput else {
            let isCurrent = phase != .idle && phase != .discarding
            pending.append(item, besides: isCurrent ? bodyBytes : 0)
            return nil
        }
        return handle(item)
    }

    /// Handles the end of a read.
    package mutating func endRead() {
        // Bytes without a complete part are the beginning of a header.
        if !hasReadItem, phase == .idle || isAnsweringCompleteRequest { hasPartialHead = true }
        hasReadItem = false
    }

    /// Whether more input may be asked for now; if not, `next` does so later.
    ///
    /// While a complete request waits for its response, the next input may be read, though not handled. Most senders have sent nothing, so
    /// the channel stays registered for reading, which saves two system calls for each request.
    package mutating func mayRead() -> Bool {
        let hasNothing = pending.isEmpty && !hasPartialHead
        let mayReadAhead = isAnsweringCompleteRequest && isWritable && hasNothing && !isDraining
        isReadHeld = !canHandleInput && !mayReadAhead
        return !isReadHeld
    }

    package mutating func setWritable(_ isWritable: Bool) {
        self.isWritable = isWritable
    }

    package mutating func closeInput() {
        isInputClosed = true
    }

    /// Starts to drain: the connection ends after it has answered the requests that were already read.
    package mutating func drain() -> Action? {
        // A stream ends with its response anyway, and its connection tells the sender to begin no others.
        guard version == .http1 else { return nil }
        isDraining = true
        guard phase == .idle, pending.isEmpty, !hasPartialHead else { return nil }
        // No request is in progress, so there is no need to wait for the sender to close.
        isInputClosed = true
        return end()
    }

    /// Handles the end of an HTTP/2 connection: nothing more of a stream's request will arrive.
    package mutating func refuseUnfinishedRequest() -> Action? {
        guard version == .http2, !isInputClosed, phase != .closing, phase != .closed else { return nil }
        return .refuseStream
    }

    /// Notes that everything has been sent, after the last response or `Action.end`.
    package mutating func sent() -> Action? {
        guard phase == .closing else { return nil }
        if version == .http2 { return .endStream }
        if isInputClosed { return close() }
        phase = .lingering
        return .closeOutput
    }

    /// Notes that the channel is closed.
    package mutating func closed() {
        phase = .closed
        pending.clear()
    }

    /// Handles an expired deadline.
    package mutating func timeOut(_ activity: ConnectionClock.Activity) -> Action? {
        switch (activity, phase) {
        case (.head, .idle), (.body, .receiving): fail(.timeout)
        case (.check, .rendering): .fail(.planUnavailable, isLast: false)
        case (.check, .checking): .fail(.overloaded, isLast: false)
        case (.wait, .waiting): .leavePipeline
        case (.idle, .idle), (.body, .discarding), (.linger, .lingering), (.respond, _): close()
        // The deadline of something that has ended.
        case (.none, _), (.idle, _), (.head, _), (.body, _), (.check, _), (.wait, _), (.linger, _): nil
        }
    }

    /// What has to be done next; `nil` if nothing until the next event.
    package mutating func next() -> Action? {
        guard phase != .closed else { return nil }
        while !isBlocked, let item = pending.popFirst() {
            if let action = handle(item) { return action }
        }
        if needsFlush {
            needsFlush = false
            return .flush
        }
        guard !isBlocked else { return nil }
        if pending.hasOverflowed, let action = end() { return action }
        if isInputClosed, let action = endInput() { return action }
        guard isReadHeld else { return nil }
        isReadHeld = false
        return .read
    }

    private mutating func handle(_ item: PendingInput.Item) -> Action? {
        switch (phase, item) {
        case (.idle, .part(.head(let head))):
            hasPartialHead = false
            requestNumber &+= 1
            bodyBytes = 0
            phase = .deciding
            return .begin(head)
        case (.receiving, .part(.body(let piece))):
            bodyBytes += piece.readableBytes
            return bodyBytes > limits.bodyBytes ? fail(.tooLarge(limit: limits.bodyBytes)) : .keep(piece)
        case (.receiving, .part(.end)):
            phase = .checking
            return .check
        case (.discarding, .part(.body(let piece))):
            bodyBytes += piece.readableBytes
            return bodyBytes > limits.bodyBytes ? end() : nil
        case (.discarding, .part(.end)):
            if endsWithCurrentRequest { return end() }
            phase = .idle
            return nil
        case (.idle, .failure(let failure)), (.receiving, .failure(let failure)):
            return fail(failure)
        case (.discarding, .failure):
            return end()
        default:
            // Input is ignored while closing; the decoder produces parts in no other order.
            return nil
        }
    }

    /// Ends the connection with a failure, because the rest of its input cannot be interpreted or does not arrive.
    private func fail(_ failure: Failure) -> Action { .fail(failure, isLast: true) }

    private mutating func endInput() -> Action? {
        switch phase {
        case .idle, .discarding: end()
        // Everything was sent when the output was closed.
        case .lingering: close()
        case .deciding, .receiving, .checking, .waiting, .rendering, .closing, .closed: nil
        }
    }

    private mutating func end() -> Action? {
        guard !isEnding else { return nil }
        if version == .http2 { return close() }
        startClosing()
        return .end
    }

    private mutating func close() -> Action {
        phase = .closed
        pending.clear()
        return .close
    }

    private mutating func startClosing() {
        phase = .closing
        needsFlush = true
        pending.clear()
    }
}

// MARK: - The current request

extension ConnectionState {
    /// Whether no request follows the current one.
    private var endsWithCurrentRequest: Bool {
        if version == .http2 || requestNumber >= limits.requests { return true }
        return pending.isEmpty && (isInputClosed || (isDraining && !hasPartialHead))
    }

    /// Starts to receive the body.
    ///
    /// - Parameter expectsContinue: Whether the sender waits for an informational response, which is being written.
    package mutating func receiveBody(expectsContinue: Bool) {
        phase = .receiving
        if expectsContinue { needsFlush = true }
    }

    /// Waits for the plan's schema, which is being rendered.
    package mutating func waitForDocument() {
        phase = .rendering
    }

    /// Waits for the pipeline's decision about the batch.
    package mutating func waitForPipeline() {
        phase = .waiting
    }

    /// Notes that the response to the current request is being written; call it only before the last response.
    ///
    /// - Parameter isLast: Whether it has to be the last one.
    /// - Returns: Whether it is the last one; then call `sent` when it has been sent.
    package mutating func respond(isLast: Bool) -> Bool {
        precondition(!isEnding, "nothing follows the last response")
        guard !isLast, !endsWithCurrentRequest else {
            startClosing()
            return true
        }
        needsFlush = true
        phase = isAnsweringCompleteRequest ? .idle : .discarding
        return false
    }
}
