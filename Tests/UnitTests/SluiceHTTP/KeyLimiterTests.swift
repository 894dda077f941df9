import EventModel
import NIOCore
import SluiceHTTP
import TestPromises
import Testing

@Suite("The limits of a write key")
struct KeyLimiterTests {
    /// A time, in seconds after the start of 2026-01-01 UTC.
    private static func time(_ seconds: Double) -> Timestamp {
        Timestamp(microseconds: 1_767_225_600_000_000 + Int64(seconds * 1e6))
    }

    private static func limiter(_ rate: Int? = nil, burst: Int? = nil, daily: Int? = nil) -> KeyLimiter {
        KeyLimiter(name: "web", WriteKey.Limits(eventsPerSecond: rate, burst: burst, eventsPerDay: daily))
    }

    @Test("without limits every number of events is accepted")
    func unlimited() {
        let limiter = Self.limiter()
        for _ in 0..<3 { #expect(limiter.take(1_000_000_000, now: Self.time(0)) == nil) }
    }

    @Test("a burst is accepted at once, and the rest with the rate")
    func rate() {
        let limiter = Self.limiter(10, burst: 20)
        #expect(limiter.take(20, now: Self.time(0)) == nil)
        #expect(limiter.take(5, now: Self.time(0)) == .rate(retryAfter: .milliseconds(100)))
        #expect(limiter.take(5, now: Self.time(0.1)) == nil)
        #expect(limiter.take(1, now: Self.time(0.1)) == .rate(retryAfter: .milliseconds(500)))
        #expect(limiter.refusal(now: Self.time(0.5)) == .rate(retryAfter: .milliseconds(100)))
        #expect(limiter.refusal(now: Self.time(0.6)) == nil)
    }

    @Test("without a burst of its own, the burst is ten seconds' events")
    func defaultBurst() {
        let limiter = Self.limiter(10)
        #expect(limiter.take(100, now: Self.time(0)) == nil)
        #expect(limiter.take(1, now: Self.time(0)) != nil)
    }

    @Test("a batch larger than the burst is accepted, and later batches wait for its rest")
    func largeBatch() {
        let limiter = Self.limiter(10, burst: 20)
        #expect(limiter.take(100, now: Self.time(0)) == nil)
        // 80 events are owed.
        #expect(limiter.take(1, now: Self.time(0)) == .rate(retryAfter: .milliseconds(8100)))
        #expect(limiter.take(100, now: Self.time(8)) == .rate(retryAfter: .milliseconds(100)))
        #expect(limiter.take(100, now: Self.time(8.1)) == nil)
    }

    @Test(
        "beside single events of another sender, a batch is accepted when its sender retries, within the rate",
        .promise("key-limits"),
        arguments: [100, 10]
    )
    func sharedKey(pauseInMilliseconds: Int) throws {
        let limiter = Self.limiter(10, burst: 20)
        let senders = try ["192.0.2.1", "192.0.2.2"].map {
            try #require(NetworkRange.Address(SocketAddress(ipAddress: $0, port: 0)))
        }
        var (batches, singles) = (0, 0)
        var retry = 0.0
        for step in stride(from: 0, to: 600_000, by: pauseInMilliseconds) {
            let now = Double(step) / 1000
            if limiter.take(1, of: senders[0], now: Self.time(now)) == nil { singles += 1 }
            guard retry <= now else { continue }
            switch limiter.take(20, of: senders[1], now: Self.time(now)) {
            case nil:
                batches += 1
                retry = now + 1
            // `Retry-After` is in whole seconds.
            case .rate(let pause)?, .volume(let pause)?: retry = now + (pause / .seconds(1)).rounded(.up)
            }
        }
        #expect(batches > 100)
        #expect(singles > 100)
        #expect((5900...6040).contains(20 * batches + singles))
    }

    @Test(
        "a sender that does not retry delays others only while its place is kept, and single events not at all",
        .promise("key-limits")
    )
    func noShow() throws {
        let limiter = Self.limiter(10, burst: 20)
        let sender = try NetworkRange.Address(SocketAddress(ipAddress: "192.0.2.1", port: 0))
        #expect(limiter.take(20, now: Self.time(0)) == nil)
        #expect(limiter.take(20, of: sender, now: Self.time(0)) == .rate(retryAfter: .milliseconds(100)))
        #expect(limiter.take(1, now: Self.time(0.1)) == .rate(retryAfter: .milliseconds(100)))
        #expect(limiter.take(1, now: Self.time(0.2)) == nil)
        #expect(limiter.take(10, now: Self.time(0.3)) == .rate(retryAfter: .milliseconds(900)))
        #expect(limiter.take(10, now: Self.time(1.2)) == nil)
        for step in 0..<290 { #expect(limiter.take(1, now: Self.time(1.4 + Double(step) / 10)) == nil) }
        // The place of the first sender is over.
        #expect(limiter.take(10, now: Self.time(30.4)) == nil)
    }

    @Test("over any time, a sender that tries all the time gets the rate and one burst at most, and one more batch")
    func average() {
        var generator = SystemRandomNumberGenerator()
        let limiter = Self.limiter(1000, burst: 500)
        var accepted = 0
        var largest = 0
        for step in 0..<20_000 {
            let events = Int.random(in: 1...700, using: &generator)
            guard limiter.take(events, now: Self.time(Double(step) / 1000)) == nil else { continue }
            accepted += events
            largest = max(largest, events)
        }
        #expect(accepted <= 20_000 + 500 + largest)
        #expect(accepted >= 20_000 - largest)
    }

    @Test("a day that only a wrong clock can have counted is forgotten")
    func wrongClock() {
        let limiter = Self.limiter(daily: 10)
        #expect(limiter.take(10, now: Self.time(4 * 365 * 86_400)) == nil)
        #expect(limiter.take(10, now: Self.time(0)) == nil)
        #expect(limiter.take(1, now: Self.time(0)) != nil)
    }

    @Test("event loops that read the clock out of order do not get the same time twice")
    func outOfOrder() {
        let limiter = Self.limiter(1000, burst: 1000)
        #expect(limiter.take(1000, now: Self.time(0)) == nil)
        var accepted = 0
        for step in 0..<100 {
            // Every other reading is 5 ms older than the one before it.
            let now = Double(step / 2) / 100 + (step % 2 == 0 ? 0.005 : 0)
            while limiter.take(1, now: Self.time(now)) == nil { accepted += 1 }
        }
        #expect(accepted <= 500)
    }

    @Test("a clock that is set back gives no events, and does not stop the bucket")
    func clockSetBack() {
        let limiter = Self.limiter(10, burst: 10)
        #expect(limiter.take(10, now: Self.time(1000)) == nil)
        #expect(limiter.take(1, now: Self.time(500)) != nil)
        #expect(limiter.take(1, now: Self.time(500.1)) == nil)
    }

    @Test("events that the pipeline did not accept can be sent again")
    func giveBack() {
        let limiter = Self.limiter(10, burst: 10, daily: 10)
        #expect(limiter.take(10, now: Self.time(0)) == nil)
        limiter.giveBack(10)
        #expect(limiter.take(10, now: Self.time(0)) == nil)
        #expect(limiter.take(1, now: Self.time(0)) != nil)
    }

    @Test("the daily volume ends at midnight UTC, and the batch that reaches it is accepted as a whole")
    func dailyVolume() {
        let limiter = Self.limiter(daily: 10)
        #expect(limiter.take(9, now: Self.time(3600)) == nil)
        #expect(limiter.take(50, now: Self.time(3600)) == nil)
        #expect(limiter.take(1, now: Self.time(86_390)) == .volume(retryAfter: .seconds(10)))
        #expect(limiter.take(1, now: Self.time(86_400)) == nil)
        #expect(limiter.usage.events == 1)
    }

    @Test("a change of the limits keeps what was counted")
    func change() {
        let limiter = Self.limiter(10, burst: 10, daily: 100)
        #expect(limiter.take(10, now: Self.time(0)) == nil)
        limiter.change(to: WriteKey.Limits(eventsPerSecond: 10, burst: 50, eventsPerDay: 10))
        #expect(limiter.take(1, now: Self.time(0)) == .volume(retryAfter: .seconds(86_400)))
        limiter.change(to: WriteKey.Limits(eventsPerSecond: 10, burst: 50))
        #expect(limiter.take(1, now: Self.time(0)) == .rate(retryAfter: .milliseconds(100)))
    }

    @Test("rejected events of a key are kept up to 16 MiB at once, and 64 KiB a second", .promise("fair-shares"))
    func rejected() {
        let limiter = Self.limiter()
        #expect(limiter.keepsRejected(bytes: 16 << 20, now: Self.time(0)))
        #expect(!limiter.keepsRejected(bytes: 64 << 10, now: Self.time(0.5)))
        #expect(limiter.keepsRejected(bytes: 64 << 10, now: Self.time(1)))
        #expect(limiter.take(1000, now: Self.time(1)) == nil, "accepted events are counted apart")
    }

    @Test(
        "a key that has events rejected all the time takes 64 minutes to fill the quarantine's default size",
        .promise("fair-shares")
    )
    func rejectedForHours() {
        let limiter = Self.limiter()
        var kept = 0
        for step in 0..<64 * 60 * 10 where limiter.keepsRejected(bytes: 10_000, now: Self.time(Double(step) / 10)) {
            kept += 10_000
        }
        #expect(kept <= 256 << 20)
        #expect(kept > 240 << 20)
    }

    @Test("a key that gets its first rate begins with a full bucket")
    func firstRate() {
        let limiter = Self.limiter()
        #expect(limiter.take(10, now: Self.time(0)) == nil)
        limiter.change(to: WriteKey.Limits(eventsPerSecond: 1, burst: 5))
        #expect(limiter.take(5, now: Self.time(0)) == nil)
    }
}
