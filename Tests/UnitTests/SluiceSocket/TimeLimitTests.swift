import EventModel
import SluiceSocket
import SluiceTesting
import Testing
import TrackerKit

@Suite("The time limit of work with a connection")
struct TimeLimitTests {
    private static let timeout = TrackerError(code: .timeout, message: "It took too long.", isRetryable: true)
    private static let failed = TrackerError(code: .unavailable, message: "It failed.", isRetryable: true)

    @Test("passes on what work in time returns, and abandons nothing")
    func inTime() async throws {
        let isAbandoned = Interrupt()
        let value = try await RelativeClock(ManualClock()).limit(
            .seconds(1),
            else: Self.timeout,
            abandon: { isAbandoned.raise() },
            { () async throws(TrackerError) in 7 }
        )
        #expect(value == 7)
        #expect(!isAbandoned.isRaised)
    }

    @Test("passes on the error of work that fails, and abandons it")
    func failing() async {
        let isAbandoned = Interrupt()
        let error = await #expect(throws: TrackerError.self) {
            try await RelativeClock(ManualClock()).limit(
                .seconds(1),
                else: Self.timeout,
                abandon: { isAbandoned.raise() },
                { () async throws(TrackerError) in throw Self.failed }
            )
        }
        #expect(error?.code == .unavailable)
        #expect(isAbandoned.isRaised)
    }

    // A connection is closed when its work is abandoned, so nothing more may be done with it.
    @Test("counts when work was abandoned, also if that succeeds or fails afterwards", arguments: [false, true])
    func late(isSuccess: Bool) async {
        let clock = ManualClock()
        let isAbandoned = Watched(false)
        async let advance: Void = {
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
        }()
        let error = await #expect(throws: TrackerError.self) {
            try await RelativeClock(clock).limit(
                .seconds(1),
                else: Self.timeout,
                abandon: { isAbandoned.update { $0 = true } },
                { () async throws(TrackerError) in
                    await isAbandoned.wait { $0 }
                    if !isSuccess { throw Self.failed }
                }
            )
        }
        await advance
        #expect(error?.code == .timeout)
    }
}
