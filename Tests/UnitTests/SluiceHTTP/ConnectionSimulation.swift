import NIOCore
import NIOHTTP1
import SluiceHTTP
import TestCases

/// A connection with its sender, its channel and what decides about its requests, driven by a seed.
///
/// The sender sends in bursts, ahead of the responses or not, reads them late, closes its side early or late, sends invalid requests, and
/// disconnects; requests are refused by their header, wait for turns, the pipeline and the plan's schema; deadlines pass, and the server
/// shuts down, all in any order.
final class ConnectionSimulation {
    enum Faults {
        case all
        /// The sender sends valid requests within the limits, reads all responses, and closes its side at the end; no deadline passes.
        case none
        /// The sender does so, but closes its side as soon as it has sent everything.
        case halfClosure
        /// The sender does so, but the server shuts down meanwhile, and the sender closes its side only after the server.
        case shutdown
    }

    /// What the sender sends.
    enum Input {
        case item(PendingInput.Item)
        /// The beginning of a header.
        case partialHead
    }

    static let maximumRequests = 8
    /// With more unread responses, the channel is not writable.
    private static let highMark = 2
    private static let steps = 4_000

    let version: ConnectionVersion
    let faults: Faults
    let budget: MemoryBudget
    /// The number of complete requests that the sender sends.
    private(set) var sentRequests = 0
    /// The numbers of the requests that were answered, in order; `nil` for a failure that belongs to none.
    private(set) var responses: [Int?] = []
    /// The number of complete requests that had been read when the server shut down.
    private(set) var readRequests = 0
    /// Rules that were violated.
    private(set) var violations: [String] = []
    /// What has happened.
    private(set) var events: Set<String> = []

    private var state: ConnectionState
    private var random: SeededGenerator
    private var script: ArraySlice<Input> = []
    private var isRunning = false

    // The channel
    private var isReadAsked = true
    private var hasSenderClosed = false
    private var isOutputClosed = false
    private var isClosed = false
    private var hasDrained = false
    private var isWritable = true
    /// Responses that were written; a last one is followed by a call of `sent`.
    private var written: [(isLast: Bool, isFlushed: Bool)] = []
    private var hasLastResponse = false

    // The current request
    private var current: Int?
    private var isAnswered = true
    private var receivedBytes = 0
    private var began = 0
    /// The number of requests whose end was read.
    private var ended = 0
    /// Whether more was read while it waited for its response.
    private var hasReadAhead = false

    init(seed: UInt64, version: ConnectionVersion, faults: Faults = .all) {
        self.version = version
        self.faults = faults
        random = SeededGenerator(seed: seed)
        budget = MemoryBudget(limit: faults == .all ? Int.random(in: 0...(512 << 10), using: &random) : .max)
        let limits = ConnectionState.Limits(
            bodyBytes: 1_000,
            requests: UInt64(Self.maximumRequests),
            pipelinedRequests: faults == .all ? 3 : 100
        )
        state = ConnectionState(version, limits: limits, budget: budget)
        script = makeScript()[...]
    }

    private func makeScript() -> [Input] {
        var script: [Input] = []
        let count = version == .http2 ? 1 : Int.random(in: 1...12, using: &random)
        for number in 0..<count {
            if chance(20) { script.append(.partialHead) }
            if fails(3) {
                script.append(.item(.failure(.badRequest)))
                // The decoder has no more parts after its first error.
                return script
            }
            script.append(.item(.part(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: String(number))))))
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let bytes = fails(5) ? 800 : chance(5) ? 100_000 : Int.random(in: 1...300, using: &random)
                script.append(.item(.part(.body(ByteBuffer(repeating: 0, count: faults == .all ? bytes : 10)))))
            }
            if fails(5) {
                script.append(.item(.failure(.incompleteRequest)))
                return script
            }
            script.append(.item(.part(.end(nil))))
            sentRequests += 1
        }
        return script
    }

    // MARK: Time

    /// Runs until the channel is closed.
    func run() {
        next()
        for _ in 0..<Self.steps where !isClosed {
            step()
            if !violations.isEmpty { return }
        }
        if !isClosed {
            violations.append("the connection does not end: \(state.phase), \(script.count) parts are not read")
        }
        if budget.reservedBytes != 0 { violations.append("\(budget.reservedBytes) bytes are not released") }
    }

    private func step() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<35: deliver()
        case 35..<60: decide()
        case 60..<80: readResponses()
        case 80..<90 where mayClose:
            hasSenderClosed = true
            state.closeInput()
            next()
        case 90: if fails(30) { timeOut() }
        case 91: if fails(20) || (faults == .shutdown && !hasDrained) { drain() }
        case 92: if fails(10) { vanish() }
        case 93: if fails(30), let action = state.refuseUnfinishedRequest() { perform(action) }
        case 94 where (faults == .halfClosure || fails(30)) && !hasSenderClosed && version == .http1:
            // It has sent more, and everything is read at once then.
            hasSenderClosed = true
            events.insert("closedEarly")
            while !script.isEmpty, !isClosed { deliver(all: true) }
            state.closeInput()
            next()
        default:
            if isOutputClosed, chance(5) { timeOut() }
        }
        if [.receiving, .discarding].contains(state.phase), state.bodyBytes > 1_000 {
            violations.append("the body has \(state.bodyBytes) bytes")
        }
    }

    /// Whether the sender may close its side now.
    private var mayClose: Bool {
        guard version == .http1, !hasSenderClosed else { return false }
        return isOutputClosed || (script.isEmpty && faults != .shutdown)
    }

    private func fails(_ count: Int) -> Bool { faults == .all && chance(count) }

    private func chance(_ count: Int) -> Bool { Int.random(in: 0..<100, using: &random) < count }

    // MARK: The channel and the sender

    private func deliver(all: Bool = false) {
        guard isReadAsked || all, !script.isEmpty, !isClosed else { return }
        isReadAsked = false
        hasReadAhead = isWaiting
        for _ in 0..<Int.random(in: 1...7, using: &random) {
            guard let input = script.popFirst() else { break }
            // It is all of a read.
            guard case .item(let item) = input else { break }
            if case .part(.end) = item { ended += 1 }
            if let action = state.read(item) { perform(action) }
        }
        state.endRead()
        next()
        // Like a channel that reads on its own.
        if state.mayRead() {
            if isWaiting { events.insert("readAhead") }
            noteRead()
        } else {
            events.insert("readHeld")
        }
    }

    /// Whether a complete request waits for its response.
    private var isWaiting: Bool { state.phase == .checking || state.phase == .waiting }

    private func noteRead() {
        isReadAsked = true
        if !isWritable, !hasLastResponse { violations.append("reads although the sender reads no responses") }
        if state.phase == .rendering { violations.append("reads in \(state.phase)") }
        if isWaiting, hasReadAhead { violations.append("reads twice in \(state.phase)") }
    }

    private func readResponses() {
        guard !isClosed, let first = written.first, first.isFlushed else { return }
        written.removeFirst()
        if first.isLast { sent() }
        guard !isWritable, written.count < Self.highMark / 2 + 1 else { return }
        isWritable = true
        state.setWritable(true)
        next()
    }

    private func sent() {
        if let action = state.sent() { perform(action) }
        next()
    }

    private func timeOut() {
        guard !isClosed else { return }
        let activity = state.activity
        events.insert("timeOut \(activity)")
        if let action = state.timeOut(activity) { perform(action) }
        next()
    }

    private func drain() {
        events.insert("drain")
        hasDrained = true
        readRequests = ended
        if let action = state.drain() { perform(action) }
        next()
    }

    private func vanish() {
        isClosed = true
        state.closed()
        events.insert("vanished")
        next()
    }

    // MARK: Requests

    private func decide() {
        guard !isClosed else { return }
        switch state.phase {
        case .checking where chance(50):
            state.waitForPipeline()
        case .checking, .waiting, .rendering:
            respond(isLast: fails(5))
        case .idle, .deciding, .receiving, .discarding, .closing, .lingering, .closed:
            return
        }
        next()
    }

    private func begin(_ head: HTTPRequestHead) {
        if !isAnswered { violations.append("begins a request before the last one is answered") }
        if head.uri != String(began) { violations.append("begins \(head.uri) after \(began) requests") }
        current = began
        began += 1
        isAnswered = false
        receivedBytes = 0
        switch Int.random(in: 0..<10, using: &random) {
        case 0: respond(isLast: fails(30))
        case 1: state.waitForDocument()
        case 2:
            state.receiveBody(expectsContinue: true)
            written.append((false, false))
        default: state.receiveBody(expectsContinue: false)
        }
    }

    private func respond(isLast: Bool) {
        isAnswered = true
        hasReadAhead = false
        if hasLastResponse { violations.append("responds after the last response") }
        let isFinal = state.respond(isLast: isLast)
        if isLast, !isFinal { violations.append("continues after a response that has to be the last one") }
        hasLastResponse = isFinal
        responses.append(current)
        current = nil
        written.append((isFinal, false))
        if written.count > Self.highMark {
            isWritable = false
            events.insert("unwritable")
            state.setWritable(false)
        }
    }

    // MARK: Actions

    private func next() {
        guard !isRunning else { return }
        isRunning = true
        while let action = state.next() { perform(action) }
        isRunning = false
        if !isClosed, written.contains(where: { !$0.isFlushed }) { violations.append("a response is not flushed") }
        events.insert("\(state.phase)")
    }

    private func perform(_ action: ConnectionState.Action) {
        note(action)
        switch action {
        case .begin(let head): begin(head)
        case .keep(let piece):
            receivedBytes += piece.readableBytes
            if isAnswered { violations.append("keeps a piece of a request that is answered") }
            if fails(2) { respond(isLast: true) }
        case .check:
            if isAnswered { violations.append("checks a request that is answered") }
            if state.bodyBytes != receivedBytes { violations.append("checks a body without all of its pieces") }
            if chance(40) { respond(isLast: fails(3)) }
        case .fail(_, let isLast): respond(isLast: isLast)
        case .leavePipeline: if chance(50) { respond(isLast: false) }
        case .read: noteRead()
        case .flush: flush()
        case .end:
            if !isAnswered, faults != .all { violations.append("ends without an answer to the current request") }
            isAnswered = true
            hasLastResponse = true
            written.append((true, false))
        case .closeOutput:
            if !written.isEmpty { violations.append("closes the output before everything is sent") }
            isOutputClosed = true
        case .endStream, .refuseStream:
            if case .refuseStream = action, version == .http1 || ended > 0 || hasLastResponse {
                violations.append("refuses a request that is complete or answered")
            }
            isClosed = true
            state.closed()
        case .close:
            if faults != .all, !written.isEmpty, version == .http1 {
                violations.append("closes before everything is sent")
            }
            isClosed = true
            state.closed()
        }
    }

    private func flush() {
        for index in written.indices { written[index].isFlushed = true }
        // The sender may read at once.
        guard chance(50) else { return }
        let hasLast = written.contains(where: \.isLast)
        written = []
        if !isWritable {
            isWritable = true
            state.setWritable(true)
            next()
        }
        if hasLast { sent() }
    }

    private func note(_ action: ConnectionState.Action) {
        if isClosed { violations.append("\(action) after the end") }
        let name = "\(action)".prefix { $0 != "(" }
        events.insert(String(name))
        if hasLastResponse, ["begin", "keep", "check", "fail"].contains(name) {
            violations.append("\(name) after the last response")
        }
    }
}
