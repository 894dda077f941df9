package import EventModel
package import EventValidation
package import NIOCore

/// State that all connections of one event loop share, and that belongs to this loop alone.
///
/// It also divides the loop's time: bodies are inflated and checked in turns, and between two turns the loop handles the input
/// of other connections. A small body gets its first turn when it arrives, while the allowance for small bodies lasts. Bodies
/// that are not finished then, and all large bodies, wait in a queue.
package final class LoopResources {
    /// The budget of one turn: a few milliseconds, even if all events are invalid.
    static let turn = CheckBudget(bytes: 256 << 10, rejections: 256)
    /// How long an idle loop waits between two turns.
    ///
    /// Not zero, because NIO runs tasks that are due before it handles input.
    private static let pause = TimeAmount.microseconds(20)
    /// The time of smaller bodies is not measured.
    private static let measuredBytes = 16 << 10

    /// Those who share the time of the loop equally.
    package enum Sender: TurnSender {
        /// All who need no key, or whose address and key are unknown.
        case anyone
        /// The senders of an address whose keys are in their bodies, and are not known yet.
        case address(NetworkRange.Address)
        /// The holders of a key.
        case key(ObjectIdentifier)

        /// One body of an address, to bound memory: a hostile sender may have many addresses.
        package var maximumInProgress: Int {
            switch self {
            case .address: 1
            case .anyone, .key: 4
            }
        }
    }

    /// A rejected event takes about as much time as so many bytes.
    private static let bytesPerRejection = turn.bytes / turn.rejections

    /// A body that waits for its turn: the connection and the number of the request.
    private struct Waiting {
        let handler: ConnectionHandler
        let request: UInt64
    }

    /// What the loops share.
    let server: IngestContext
    /// The most common response; each loop has a copy, to avoid contention on one reference count.
    private let acceptedOne: (http1: EncodedAnswer, http2: EncodedAnswer)
    /// The statistics of this loop's turns.
    private(set) var statistics = TurnStatistics()
    var metrics: HTTPMetrics.OfLoop
    /// Checks bodies; it reuses its memory for each body.
    private var validator: EventValidator
    /// Makes a validator for a plan.
    private let makeValidator: (EventCatalog) -> EventValidator
    /// The documents of `GET /v1/plan`; `nil` if they are not served.
    private(set) var plan: PlanDocuments?
    private let tools: TranslationTools
    let keys: KeyLookup
    /// The time of arrival of bodies.
    let now: @Sendable () -> Timestamp
    private let eventLoop: any EventLoop
    private var queue = TurnQueue<Sender, Waiting>()
    /// The rest of the budget for small bodies until the next tick.
    private var allowance = LoopResources.turn
    private var isTickScheduled = false

    /// Creates the resources of an event loop; `plan` has the documents of `GET /v1/plan`, `nil` if they are not served.
    package init(
        catalog: EventCatalog,
        plan: PlanDocuments?,
        configuration: IngestConfiguration,
        server: IngestContext,
        eventLoop: any EventLoop,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.server = server
        self.eventLoop = eventLoop
        self.now = now
        metrics = server.metrics.ofLoop()
        keys = KeyLookup(server.keys)
        tools = TranslationTools(maximumEvents: configuration.maximumEvents)
        self.plan = plan
        makeValidator = { catalog in
            EventValidator(
                catalog: catalog,
                maximumEvents: configuration.maximumEvents,
                maximumRejections: configuration.maximumRejections,
                maximumExplained: configuration.maximumExplainedRejections,
                now: now
            )
        }
        validator = makeValidator(catalog)
        let answer = Answer(status: "200 OK", body: Array(VerdictEncoder.acceptedOne.utf8))
        acceptedOne = (AnswerEncoder.encode(answer, for: .http1), AnswerEncoder.encode(answer, for: .http2))
    }

    /// Measures once in a while how late the loop runs a task, until the resources are released.
    func measureDelay() {
        let due = NIODeadline.now() + HTTPMetrics.OfLoop.delayInterval
        eventLoop.assumeIsolated().scheduleTask(deadline: due) { [weak self] in
            guard let self else { return }
            metrics.delayed(.now() - due)
            measureDelay()
        }
    }

    /// Replaces the plan; bodies whose check has begun are checked to the end against the earlier one.
    func replacePlan(with catalog: EventCatalog, documents: PlanDocuments?) {
        validator = makeValidator(catalog)
        plan = documents
    }

    /// The response to a single accepted event.
    func acceptedOne(in version: ConnectionVersion) -> EncodedAnswer {
        switch version {
        case .http1: acceptedOne.http1
        case .http2: acceptedOne.http2
        }
    }

    /// Whether a body may have its first turn at once.
    func mayBegin(_ work: borrowing BodyWork) -> Bool { !allowance.isSpent && work.looksSmall }

    /// Gives a small body a turn from the allowance, or any body a turn of its own.
    ///
    /// - Throws: As `BodyWork.advance`.
    func advance(_ work: inout BodyWork, of sender: Sender, fromAllowance: Bool) throws -> BodyWork.Step {
        let given = fromAllowance ? allowance : Self.turn
        var budget = given
        defer {
            if fromAllowance { allowance = budget }
            let (bytes, rejections) = (given.bytes - budget.bytes, given.rejections - budget.rejections)
            queue.charge(sender, bytes + rejections * Self.bytesPerRejection)
            statistics.turns += 1
            statistics.mostBytes = max(statistics.mostBytes, bytes)
            statistics.mostRejections = max(statistics.mostRejections, rejections)
        }
        return try work.advance(with: validator, tools, within: &budget)
    }

    /// Runs the handling of a body of the given size, and records how long it took.
    func measure(_ bytes: Int, _ body: () -> Void) {
        guard bytes > Self.measuredBytes else { return body() }
        let start = ThreadTime.now()
        body()
        statistics.longestStretch = max(statistics.longestStretch, ThreadTime.now() - start)
    }

    /// Sets a connection's body aside until its turn.
    func wait(_ handler: ConnectionHandler, request: UInt64, of sender: Sender, isSmall: Bool, hadTurn: Bool) {
        let waiting = Waiting(handler: handler, request: request)
        if hadTurn {
            statistics.setAside += 1
            queue.addAgain(waiting, of: sender, isSmall: isSmall)
        } else {
            queue.add(waiting, of: sender, isSmall: isSmall)
        }
        scheduleTick()
    }

    private func scheduleTick() {
        guard !isTickScheduled else { return }
        isTickScheduled = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.tick() }
    }

    /// Renews the allowance, lets the small bodies use it, and gives one large body its turn.
    private func tick() {
        allowance = Self.turn
        measure(.max) {
            while !allowance.isSpent, let waiting = queue.nextSmall() {
                waiting.handler.takeTurn(of: waiting.request, fromAllowance: true)
            }
            while let waiting = queue.nextLarge() {
                if waiting.handler.takeTurn(of: waiting.request, fromAllowance: false) { break }
            }
        }
        // Not before the turn: the pause would be over by its end, and the next turn would precede the input.
        isTickScheduled = false
        if !queue.isEmpty { scheduleTick() }
    }
}
