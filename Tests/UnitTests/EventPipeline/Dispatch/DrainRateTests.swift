import EventPipeline
import TestPromises
import Testing

@Suite("The rate at which a journal drains")
struct DrainRateTests {
    @Test("estimates from the last ten seconds when a number is reached", .promise("full-disk"))
    func wait() {
        var rate = DrainRate()
        for second in 0...20 {
            // Ten times as fast in the last ten seconds as before.
            rate.note(second <= 10 ? UInt64(second * 10) : UInt64(100 + (second - 10) * 100), now: .seconds(second))
        }
        #expect(rate.wait(until: 2_100) == .seconds(10))
        #expect(rate.wait(until: 1_100) == .zero)
        #expect(rate.wait(until: 7) == .zero)
    }

    @Test("gives no estimate if nothing moves")
    func still() {
        var rate = DrainRate()
        #expect(rate.wait(until: 5) == nil)
        rate.note(3, now: .seconds(1))
        #expect(rate.wait(until: 5) == nil)
        rate.note(3, now: .seconds(2))
        #expect(rate.wait(until: 5) == nil)
    }

    @Test("is at most a day, whatever the numbers are")
    func far() {
        var rate = DrainRate()
        rate.note(0, now: .zero)
        rate.note(1, now: .seconds(10))
        #expect(rate.wait(until: .max) == .seconds(86_400))
    }
}
