import EventModel
import EventValidation
import NIOCore

/// What all connections of one event loop share, and no other loop touches.
///
/// It also divides the loop's time: bodies are inflated and checked in turns, and between two turns the loop looks at what
/// other connections sent. A small body has its first turn when it arrives, as far as the allowance for such bodies goes;
/// whatever is not finished then, and every large body, waits in a queue.
final class LoopResources {
    /// What one turn may take: a few milliseconds, even of events that all have mistakes.
    static let turn = CheckBudget(bytes: 256 << 10, rejections: 256)
    /// How long the loop waits between two turns if nobody sends anything.
    ///
    /// Not zero: NIO runs tasks that are due before it looks at its connections.
    private static let pause = TimeAmount.microseconds(20)
    /// Smaller bodies than this are not worth a measurement.
    private static let measuredBytes = 16 << 10

    /// A body that waits for its turn: the connection, and which of its requests it was.
    private struct Waiting {
        let handler: ConnectionHandler
        let request: UInt64
    }

    /// The answer nearly every request gets; a copy for each loop, for a shared one's count would be fought over.
    let acceptedOne: ByteBuffer
    /// What the turns of this loop took.
    private(set) var statistics = TurnStatistics()
    /// Checks bodies; it keeps its memory from body to body.
    private let validator: EventValidator
    private let eventLoop: any EventLoop
    private var queue = TurnQueue<Waiting>()
    /// What is left for small bodies until the next tick.
    private var allowance = LoopResources.turn
    private var isTickScheduled = false

    init(
        catalog: EventCatalog,
        configuration: HTTPIngestConfiguration,
        eventLoop: any EventLoop,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.eventLoop = eventLoop
        validator = EventValidator(
            catalog: catalog,
            maximumRejections: configuration.maximumRejections,
            maximumExplained: configuration.maximumExplainedRejections,
            now: now
        )
        acceptedOne = AnswerEncoder.answer(
            status: "200 OK",
            body: Array(AnswerEncoder.acceptedOne.utf8),
            persistence: .implied
        )
    }

    /// Whether a body may have its first turn at once.
    func mayBegin(_ work: borrowing BodyWork) -> Bool { !allowance.isSpent && work.looksSmall }

    /// Gives a small body a turn from the allowance, or any body a turn of its own.
    ///
    /// - Returns: What the check gave; `nil` where another turn is needed.
    /// - Throws: As `BodyWork.advance`.
    func advance(_ work: inout BodyWork, fromAllowance: Bool) throws -> CheckedBody? {
        let given = fromAllowance ? allowance : Self.turn
        var budget = given
        defer {
            if fromAllowance { allowance = budget }
            statistics.turns += 1
            statistics.mostBytes = max(statistics.mostBytes, given.bytes - budget.bytes)
            statistics.mostRejections = max(statistics.mostRejections, given.rejections - budget.rejections)
        }
        return try work.advance(with: validator, within: &budget)
    }

    /// Runs what a connection does with a body of so many bytes, and notes how long it took.
    func measure(_ bytes: Int, _ body: () -> Void) {
        guard bytes > Self.measuredBytes else { return body() }
        let start = ThreadTime.now()
        body()
        statistics.longestStretch = max(statistics.longestStretch, ThreadTime.now() - start)
    }

    /// Sets a connection's body aside until its turn.
    func wait(_ handler: ConnectionHandler, isSmall: Bool, hadTurn: Bool) {
        let waiting = Waiting(handler: handler, request: handler.requestNumber)
        if hadTurn {
            statistics.setAside += 1
            queue.addAgain(waiting, isSmall: isSmall)
        } else {
            queue.add(waiting, isSmall: isSmall)
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
        // Not earlier: by the end of a turn the pause would be over, and the next would come before the connections.
        isTickScheduled = false
        if !queue.isEmpty { scheduleTick() }
    }
}
