import SluiceTesting
import Testing

@Suite("The manual clock", .timeLimit(.minutes(5)))
struct ManualClockTests {
    @Test("a task sleeps until the clock reaches its deadline, not before")
    func wakes() async throws {
        let clock = ManualClock()
        let woken = Watched(false)
        let sleeper = Task {
            try await clock.sleep(for: .seconds(2))
            woken.update { $0 = true }
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        #expect(clock.sleepers == [.seconds(1)])
        #expect(!woken.value)
        clock.advance(by: .seconds(1))
        try await sleeper.value
        #expect(clock.sleeperCount == 0)
        #expect(clock.now.offset == .seconds(2))
    }

    @Test("a sleeping task that is cancelled wakes with an error")
    func cancellation() async {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(2)) }
        await clock.waitForSleeper(for: .seconds(2))
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("sleeping until a time in the past returns at once")
    func past() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .init(offset: .seconds(5)))
    }
}
