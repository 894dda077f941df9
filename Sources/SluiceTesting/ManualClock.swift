/// A clock that stands still until a test advances it.
///
/// Give it to the pipeline in place of `ContinuousClock`; then lingering, pauses and deadlines take no time:
///
///     await clock.waitForSleepers(1)
///     clock.advance(by: .milliseconds(100))
public final class ManualClock: Clock, Sendable {
    /// A moment of this clock: the time since it was made.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// Names the moment that comes `offset` after the clock was made.
        public init(offset: Duration = .zero) {
            self.offset = offset
        }

        /// The moment that comes after this one by a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// How long it is from this moment to another.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Orders moments by time.
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

    /// Makes a clock that stands at zero.
    public init() {}

    /// Where the clock stands.
    public var now: Instant { state.value.now }

    /// There is none: the clock can be advanced by any duration.
    public var minimumResolution: Duration { .zero }

    /// How many tasks sleep on this clock.
    public var sleeperCount: Int { state.value.sleepers.count }

    /// For how long each sleeping task has yet to sleep, shortest first.
    public var sleepers: [Duration] {
        let state = state.value
        return state.sleepers.map { state.now.duration(to: $0.deadline) }.sorted()
    }

    /// Moves the clock, and wakes the tasks whose time has come, in the order of their deadlines.
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

    /// Waits until at least so many tasks sleep on this clock.
    public func waitForSleepers(_ count: Int) async {
        await state.wait { $0.sleepers.count >= count }
    }

    /// Waits until a task sleeps that has yet to sleep for just this long.
    public func waitForSleeper(for duration: Duration) async {
        await state.wait { state in
            state.sleepers.contains { state.now.duration(to: $0.deadline) == duration }
        }
    }

    /// Sleeps until a test has advanced the clock that far.
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
