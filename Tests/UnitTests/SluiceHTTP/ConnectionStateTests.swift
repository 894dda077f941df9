import NIOCore
import NIOHTTP1
import PortDefinitions
import SluiceHTTP
import TestCases
import Testing

@Suite("The state of a connection")
struct ConnectionStateTests {
    @Test(
        "whatever is read, closed, sent, decided and timed out in any order, requests are answered in order and at most once, and the connection ends",
        arguments: SimulationSeeds.upTo(20_000),
        [ConnectionVersion.http1, .http2]
    )
    func simulation(seed: UInt64, version: ConnectionVersion) {
        let simulation = ConnectionSimulation(seed: seed, version: version)
        simulation.run()
        #expect(simulation.violations.isEmpty)
        let numbers = simulation.responses.compactMap { $0 }
        #expect(numbers == Array(0..<numbers.count))
        // An invalid request is answered once, at the end.
        #expect(simulation.responses.dropLast().allSatisfy { $0 != nil })
    }

    @Test(
        "a sender that sends valid requests and reads the responses gets one to each request, even if it closes its side early",
        arguments: SimulationSeeds.upTo(20_000),
        [ConnectionSimulation.Faults.none, .halfClosure]
    )
    func honestSender(seed: UInt64, faults: ConnectionSimulation.Faults) {
        let version: ConnectionVersion = seed % 4 == 3 ? .http2 : .http1
        let simulation = ConnectionSimulation(seed: seed, version: version, faults: faults)
        simulation.run()
        #expect(simulation.violations.isEmpty)
        let count = min(simulation.sentRequests, ConnectionSimulation.maximumRequests)
        #expect(simulation.responses == Array(0..<count))
    }

    @Test(
        "at a shutdown, the requests that were read are answered, and the connection ends although its sender keeps it open",
        arguments: SimulationSeeds.upTo(20_000)
    )
    func shutdown(seed: UInt64) {
        let simulation = ConnectionSimulation(seed: seed, version: .http1, faults: .shutdown)
        simulation.run()
        #expect(simulation.violations.isEmpty)
        let limit = ConnectionSimulation.maximumRequests
        #expect(simulation.responses.count >= min(simulation.readRequests, limit))
        #expect(simulation.responses.count <= min(simulation.sentRequests, limit))
    }

    @Test("the simulation reaches every phase, action and deadline")
    func reached() {
        var missing: Set = [
            "begin", "keep", "check", "fail", "leavePipeline", "read", "flush",
            "end",
            "closeOutput", "endStream", "refuseStream", "close", "readHeld", "readAhead", "unwritable", "drain",
            "vanished", "closedEarly",
        ]
        missing.formUnion(ConnectionState.Phase.allCases.filter { $0 != .deciding }.map { "\($0)" })
        missing.formUnion(ConnectionClock.Activity.allCases.filter { $0 != .none }.map { "timeOut \($0)" })
        for seed in UInt64(0)..<2_000 where !missing.isEmpty {
            for version in [ConnectionVersion.http1, .http2] {
                let simulation = ConnectionSimulation(seed: seed, version: version)
                simulation.run()
                missing.subtract(simulation.events)
            }
        }
        #expect(missing.isEmpty)
    }

    // MARK: Each phase

    private static func makeState(in phase: ConnectionState.Phase, _ version: ConnectionVersion = .http1)
        -> ConnectionState
    {
        let limits = ConnectionState.Limits(bodyBytes: 10, requests: 100, pipelinedRequests: 10)
        var state = ConnectionState(version, limits: limits, budget: MemoryBudget(limit: .max))
        if phase == .idle { return state }
        _ = state.read(.part(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/"))))
        if [.receiving, .checking, .waiting].contains(phase) { state.receiveBody(expectsContinue: false) }
        if [.checking, .waiting].contains(phase) { _ = state.read(.part(.end(nil))) }
        if phase == .waiting { state.waitForPipeline() }
        if phase == .rendering { state.waitForDocument() }
        if phase == .discarding { _ = state.respond(isLast: false) }
        if [.closing, .lingering].contains(phase) { _ = state.respond(isLast: true) }
        if phase == .lingering { _ = state.sent() }
        if phase == .closed { state.closed() }
        return state
    }

    /// The name of an action, or the code of a failure.
    private static func name(_ action: ConnectionState.Action?) -> String? {
        guard let action else { return nil }
        if case .fail(let failure, let isLast) = action { return failure.code.rawValue + (isLast ? ", last" : "") }
        return String("\(action)".prefix { $0 != "(" })
    }

    @Test("each phase can be reached", arguments: ConnectionState.Phase.allCases)
    func phases(phase: ConnectionState.Phase) {
        let reached = Self.makeState(in: phase).phase
        #expect(reached == phase)
    }

    @Test(
        "an expired deadline has the same effect as the phase demands, and none if its activity has ended",
        arguments: ConnectionState.Phase.allCases,
        ConnectionClock.Activity.allCases
    )
    func deadlines(phase: ConnectionState.Phase, activity: ConnectionClock.Activity) {
        var state = Self.makeState(in: phase)
        let action = Self.name(state.timeOut(activity))
        let expected: String? =
            switch (activity, phase) {
            case (.head, .idle), (.body, .receiving): "timeout, last"
            case (.check, .checking), (.check, .rendering): "overloaded"
            case (.wait, .waiting): "leavePipeline"
            case (.idle, .idle), (.body, .discarding), (.linger, .lingering), (.respond, _): "close"
            default: nil
            }
        #expect(action == expected)
    }

    @Test(
        "each phase has its deadline, and so has a sender that does not read",
        arguments: ConnectionState.Phase.allCases
    )
    func activities(phase: ConnectionState.Phase) {
        var state = Self.makeState(in: phase)
        let expected: (readable: ConnectionClock.Activity, blocked: ConnectionClock.Activity) =
            switch phase {
            case .idle, .deciding: (.idle, .respond)
            case .receiving, .discarding: (.body, .respond)
            case .checking, .rendering: (.check, .check)
            case .waiting: (.wait, .wait)
            case .closing: (.respond, .respond)
            case .lingering, .closed: (.linger, .linger)
            }
        let readable = state.activity
        state.setWritable(false)
        let blocked = state.activity
        #expect(readable == expected.readable && blocked == expected.blocked)
    }

    @Test(
        "while a complete request waits for its response, one read is allowed, which may be the beginning of a header",
        arguments: [ConnectionState.Phase.checking, .waiting],
        [true, false]
    )
    func readAhead(phase: ConnectionState.Phase, isPartial: Bool) {
        var state = Self.makeState(in: phase)
        state.endRead()
        let mayReadOnce = state.mayRead()
        #expect(mayReadOnce)
        if !isPartial {
            let isHandled = state.read(.part(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")))) != nil
            #expect(!isHandled)
        }
        state.endRead()
        let mayReadTwice = state.mayRead()
        #expect(!mayReadTwice)
        _ = state.respond(isLast: false)
        var actions: [String?] = []
        while let action = state.next() {
            actions.append(Self.name(action))
            if case .begin = action { state.receiveBody(expectsContinue: false) }
        }
        #expect(actions == (isPartial ? ["flush", "read"] : ["begin", "flush", "read"]))
        let activity = state.activity
        #expect(activity == (isPartial ? .head : .body))
    }

    @Test("nothing is read ahead while the sender does not read, and during a shutdown", arguments: [true, false])
    func noReadAhead(isDraining: Bool) {
        var state = Self.makeState(in: .waiting)
        if isDraining { _ = state.drain() } else { state.setWritable(false) }
        state.endRead()
        let mayRead = state.mayRead()
        #expect(!mayRead)
    }

    @Test("a header whose beginning was read before the shutdown is waited for", arguments: [true, false])
    func partialHeadAtShutdown(hasHead: Bool) {
        var state = Self.makeState(in: .waiting)
        if hasHead { state.endRead() }
        state.endRead()
        _ = state.drain()
        let isLast = state.respond(isLast: false)
        #expect(isLast == !hasHead)
    }

    @Test(
        "an invalid request is refused, and one after an early response ends the connection",
        arguments: ConnectionState.Phase.allCases
    )
    func decoderFailure(phase: ConnectionState.Phase) {
        var state = Self.makeState(in: phase)
        let action = Self.name(state.read(.failure(.badRequest)))
        let expected: String? =
            switch phase {
            case .idle, .receiving: "bad-request, last"
            case .discarding: "end"
            case .deciding, .checking, .waiting, .rendering, .closing, .lingering, .closed: nil
            }
        #expect(action == expected)
    }

    @Test(
        "bodies have a limit, also after an early response",
        arguments: [ConnectionState.Phase.receiving, .discarding]
    )
    func bodyLimit(phase: ConnectionState.Phase) {
        var state = Self.makeState(in: phase)
        let fits = Self.name(state.read(.part(.body(ByteBuffer(repeating: 0, count: 10)))))
        let exceeds = Self.name(state.read(.part(.body(ByteBuffer(repeating: 0, count: 1)))))
        #expect([fits, exceeds] == (phase == .receiving ? ["keep", "too-large, last"] : [nil, "end"]))
    }

    @Test(
        "the beginning of a header has a deadline of its own until the header is complete, and a shutdown waits for it"
    )
    func partialHead() {
        var state = Self.makeState(in: .idle)
        state.endRead()
        let before = state.activity
        let drained = Self.name(state.drain())
        _ = state.read(.part(.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))))
        state.endRead()
        let after = state.activity
        let isLast = state.respond(isLast: false)
        #expect(before == .head && drained == nil && after == .idle && isLast)
    }

    @Test(
        "a shutdown ends an idle connection at once, and no other",
        arguments: ConnectionState.Phase.allCases
    )
    func idleAtShutdown(phase: ConnectionState.Phase) {
        var state = Self.makeState(in: phase)
        let action = Self.name(state.drain())
        #expect(action == (phase == .idle ? "end" : nil))
    }

    @Test(
        "the end of an HTTP/2 connection refuses a request that is not complete and not answered",
        arguments: ConnectionState.Phase.allCases
    )
    func connectionEnd(phase: ConnectionState.Phase) {
        var state = Self.makeState(in: phase, .http2)
        let action = Self.name(state.refuseUnfinishedRequest())
        let isUnfinished = [.idle, .deciding, .receiving, .rendering].contains(phase)
        #expect(action == (isUnfinished ? "refuseStream" : nil))
    }

    @Test("after an early response, the connection ends with its request if the server shuts down meanwhile")
    func shutdownWhileDiscarding() {
        var state = Self.makeState(in: .discarding)
        let drained = Self.name(state.drain())
        let ended = Self.name(state.read(.part(.end(nil))))
        #expect(drained == nil && ended == "end")
    }

    @Test("if too many requests are pending, those within the limit are answered, and then the connection ends")
    func overflow() {
        var state = Self.makeState(in: .waiting)
        for _ in 0..<11 {
            _ = state.read(.part(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/"))))
            _ = state.read(.part(.end(nil)))
        }
        _ = state.respond(isLast: false)
        var actions: [String] = []
        while let action = state.next() {
            actions.append(Self.name(action) ?? "")
            if case .begin = action { _ = state.respond(isLast: false) }
        }
        #expect(actions.count { $0 == "begin" } == 10 && actions.contains("end"))
    }
}
