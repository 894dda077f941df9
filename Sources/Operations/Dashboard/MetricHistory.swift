package import EventModel
import Synchronization

/// The last hour of a few metrics, for the charts of the dashboard: a sample every five seconds, kept in memory.
package final class MetricHistory: Sendable {
    /// The time between two samples.
    package static let interval = Duration.seconds(5)
    /// How many samples are kept: an hour.
    package static let maximumSamples = 720

    /// What is shown at one time.
    package struct Sample: Sendable, Codable, Hashable {
        /// Its number; the first sample of the process has 0.
        package var number = 0
        /// When it was taken, in milliseconds since 1970.
        package var time: Int64 = 0
        /// Events a second since the sample before.
        package var accepted = 0.0
        package var rejected = 0.0
        /// The 99th percentile of the time that requests took, in seconds; `nil` without requests.
        ///
        /// It is the upper bound of its bucket, and 120 stands for more than 60.
        package var requestTime: Double?
        /// The same of commits to the journal.
        package var commitTime: Double?
        /// The same of deliveries to all trackers.
        package var deliveryTime: Double?
        /// Delivered events a second, by tracker.
        package var delivered: [String: Double] = [:]
        /// Undelivered events, by tracker.
        package var lag: [String: Int] = [:]
    }

    /// What has been counted since the process began.
    package struct Counts: Sendable {
        package var accepted = 0
        package var rejected = 0
        package var delivered: [String: Int] = [:]
        package var lag: [String: Int] = [:]
        /// The buckets of the histograms.
        package var requestTimes: [Int] = []
        package var commitTimes: [Int] = []
        package var deliveryTimes: [Int] = []

        package init() {}
    }

    private struct State {
        var samples: [Sample] = []
        var next = 0
        var last: (counts: Counts, at: Duration)?
    }

    /// When the process began, or rather this history of it.
    package let started = Timestamp.now()
    private let state = Mutex(State())

    package init() {}

    /// Takes a sample of what was counted until now.
    package func add(_ counts: Counts, now: Duration, time: Timestamp) {
        state.withLock { state in
            defer { state.last = (counts, now) }
            guard let last = state.last else { return }
            let seconds = max((now - last.at) / .seconds(1), 0.001)
            var sample = Sample(number: state.next, time: time.microseconds / 1000)
            sample.accepted = Double(max(0, counts.accepted - last.counts.accepted)) / seconds
            sample.rejected = Double(max(0, counts.rejected - last.counts.rejected)) / seconds
            sample.requestTime = Self.percentile(from: last.counts.requestTimes, to: counts.requestTimes)
            sample.commitTime = Self.percentile(from: last.counts.commitTimes, to: counts.commitTimes)
            sample.deliveryTime = Self.percentile(from: last.counts.deliveryTimes, to: counts.deliveryTimes)
            for (tracker, count) in counts.delivered {
                sample.delivered[tracker] = Double(max(0, count - (last.counts.delivered[tracker] ?? 0))) / seconds
            }
            sample.lag = counts.lag
            state.next += 1
            state.samples.append(sample)
            if state.samples.count > Self.maximumSamples { state.samples.removeFirst() }
        }
    }

    /// The samples from a number on, the oldest first.
    package func samples(from number: Int) -> [Sample] {
        state.withLock { state in
            state.samples.drop { $0.number < number }.map(\.self)
        }
    }

    /// The upper bound of the bucket with the 99th percentile of what was recorded between; `nil` if nothing was.
    private static func percentile(from before: [Int], to after: [Int]) -> Double? {
        let new = after.indices.map { after[$0] - (before.indices.contains($0) ? before[$0] : 0) }
        let total = new.reduce(0, +)
        guard total > 0 else { return nil }
        var sum = 0
        for (bucket, count) in new.enumerated() {
            sum += count
            // 99 of 100, without fractions.
            if sum * 100 >= total * 99 { return HistogramValue.upperBound(ofBucket: bucket) }
        }
        return nil
    }
}
