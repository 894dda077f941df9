/// A clock whose time changes only when a test advances it.
///
/// Pass it to the pipeline instead of `ContinuousClock`; then lingering, backoff and deadlines take no real time:
///
///     await clock.waitForSleepers(1)
///     clock.advance(by: .milliseconds(100))
public final class ManualClock: Clock, Sendable {
    /// A time of this clock.
    public struct Instant: InstantProtocol {
        /// The duration since the clock was created.
        public let offset: Duration

        /// Creates the time that is `offset` after the clock was created.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// The time that is later than this one by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The duration from this time to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether one time is before another.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper: Sendable {
        let number: UInt64
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant()
        var sleepers: [Sleeper] = []
        var nextNumber: UInt64 = 0
    }

    private let state = Watched(State())

    /// Creates a clock whose time is zero.
    public init() {}

    /// The current time of the clock.
    public var now: Instant { state.value.now }

    /// Zero: the clock can be advanced by any duration.
    public var minimumResolution: Duration { .zero }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { state.value.sleepers.count }

    /// The remaining time of each sleeping task, shortest first.
    public var sleepers: [Duration] {
        let state = state.value
        return state.sleepers.map { state.now.duration(to: $0.deadline) }.sorted()
    }

    /// Advances the clock, and wakes the tasks whose deadlines have passed, in the order of their deadlines.
    public func advance(by duration: Duration) {
        let woken = state.update { state in
            let now = state.now.advanced(by: duration)
            state.now = now
            let woken = state.sleepers.filter { $0.deadline <= now }
            state.sleepers.removeAll { $0.deadline <= now }
            return woken.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Waits until at least `count` tasks sleep on this clock.
    public func waitForSleepers(_ count: Int) async {
        await state.wait { $0.sleepers.count >= count }
    }

    /// Waits until a task sleeps whose remaining time is exactly `duration`.
    public func waitForSleeper(for duration: Duration) async {
        await state.wait { state in
            state.sleepers.contains { state.now.duration(to: $0.deadline) == duration }
        }
    }

    /// Sleeps until a test has advanced the clock to the deadline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let number = state.update { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result = register(Sleeper(number: number, deadline: deadline, continuation: continuation))
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.update { state in
                state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func register(_ sleeper: Sleeper) -> Result<Void, any Error>? {
        state.update { state in
            if Task.isCancelled { return .failure(CancellationError()) }
            if sleeper.deadline <= state.now { return .success(()) }
            state.sleepers.append(sleeper)
            return nil
        }
    }
}
