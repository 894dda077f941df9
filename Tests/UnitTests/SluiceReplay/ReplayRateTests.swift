import SluiceReplay
import SluiceTesting
import Testing

@Suite("The rate of a replay", .timeLimit(.minutes(5)))
struct ReplayRateTests {
    /// Waits for some events; returns how long, by the clock.
    private func wait(_ rate: inout ReplayRate<ManualClock>, for count: Int, _ clock: ManualClock) async -> Duration {
        async let waited: Duration? = {
            await clock.waitForSleepers(1)
            let remaining = clock.sleepers.first
            if let remaining { clock.advance(by: remaining) }
            return remaining
        }()
        await rate.wait(for: count)
        return await waited ?? .zero
    }

    @Test("each part waits for the time that its events take")
    func parts() async {
        let clock = ManualClock()
        var rate = ReplayRate(eventsPerSecond: 100, clock: clock)
        for count in [10, 1, 250] {
            #expect(await wait(&rate, for: count, clock) == .milliseconds(10 * count))
        }
    }

    @Test("a cancelled wait ends at once")
    func cancellation() async {
        let rate = ReplayRate(eventsPerSecond: 1, clock: ManualClock())
        await withTaskGroup { group in
            group.addTask {
                var rate = rate
                await rate.wait(for: 10)
            }
            group.cancelAll()
        }
    }

    @Test("the rate does not catch up after a pause in the input")
    func pause() async {
        let clock = ManualClock()
        var rate = ReplayRate(eventsPerSecond: 100, clock: clock)
        clock.advance(by: .seconds(60))
        #expect(await wait(&rate, for: 50, clock) == .milliseconds(500))
    }
}
