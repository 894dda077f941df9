import EventModel
import Operations
import Testing

@Suite("The history of the dashboard's charts")
struct MetricHistoryTests {
    private static func counts(_ accepted: Int, requests: [Int] = []) -> MetricHistory.Counts {
        var counts = MetricHistory.Counts()
        counts.accepted = accepted
        counts.delivered = ["console": accepted / 2]
        counts.lag = ["console": accepted - accepted / 2]
        counts.requestTimes = requests
        counts.deliveryTimes = requests
        return counts
    }

    @Test("has rates since the sample before, and the size of a lag")
    func rates() {
        let history = MetricHistory()
        history.add(Self.counts(100), now: .seconds(1), time: Timestamp(microseconds: 1_000_000))
        #expect(history.samples(from: 0).isEmpty)
        history.add(Self.counts(600), now: .seconds(6), time: Timestamp(microseconds: 6_000_000))
        let sample = history.samples(from: 0)[0]
        #expect(sample.time == 6000)
        #expect(sample.accepted == 100)
        #expect(sample.delivered == ["console": 50])
        #expect(sample.lag == ["console": 300])
        #expect(sample.requestTime == nil)
    }

    @Test("has the bucket of the 99th percentile of what came since the sample before")
    func percentiles() {
        let history = MetricHistory()
        let bounds = [0.0001, 0.00025, 0.0005]
        for (requests, expected) in [
            ([500, 0, 0], Double?.none), ([599, 1, 0], bounds[0]), ([698, 2, 1], bounds[1]), ([698, 2, 1], nil),
            ([698, 2, 2], bounds[2]),
        ] {
            history.add(Self.counts(0, requests: requests), now: .zero, time: .now())
            #expect(history.samples(from: 0).last?.requestTime == expected, "\(requests)")
            #expect(history.samples(from: 0).last?.deliveryTime == expected, "\(requests)")
        }
    }

    @Test("keeps an hour, and gives out what somebody does not have yet")
    func hour() {
        let history = MetricHistory()
        for second in 0...800 { history.add(Self.counts(second), now: .seconds(5 * second), time: .now()) }
        #expect(history.samples(from: 0).map(\.number) == Array(80..<800))
        #expect(history.samples(from: 798).map(\.number) == [798, 799])
        #expect(history.samples(from: 800).isEmpty)
    }
}
