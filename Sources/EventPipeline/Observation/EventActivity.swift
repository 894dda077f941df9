import EventModel
public import EventValidation
import Synchronization

/// What a pipeline has seen of one event of the plan, since the process began.
public struct EventStatistics: Sendable, Hashable {
    /// The event's name.
    public let name: String
    /// How many were accepted.
    public let accepted: Int
    /// How many were rejected, and had this name.
    public let rejected: Int
    /// When the last one was accepted, in microseconds since 1970; `nil` if none was.
    public let lastAccepted: Int64?
}

/// Rejected events of one kind.
public struct RejectionStatistics: Sendable, Hashable {
    /// What they are counted by.
    public struct Kind: Sendable, Hashable {
        /// The event's name; `nil` if the plan has no such event.
        public let event: String?
        /// The first rule that they broke.
        public let code: VerdictCode
        /// Who sent them: the name of a write key, or where they came from.
        public let sender: String
    }

    /// The kind.
    public let kind: Kind
    /// How many there were since the process began.
    public var count: Int
    /// When the last one was rejected, in microseconds since 1970.
    public var last: Int64
    /// The rules that one of the last ones broke; empty if none was explained.
    public var sample: [Violation]
    /// When the sample was taken, in microseconds since 1970.
    var sampled: Int64 = .min
}

/// Counts events by name, and rejected ones by kind, for the dashboard.
final class EventActivity: Sendable {
    /// The maximum number of kinds of rejected events; further ones are counted without their sender or, beyond that, not at all.
    private static let maximumKinds = 1000
    private static let otherSenders = "(others)"
    /// How old a sample is before it is replaced, in microseconds.
    private static let sampleAge: Int64 = 1_000_000

    /// The counts of one event.
    final class Counts: Sendable {
        fileprivate let accepted = Atomic<Int>(0)
        fileprivate let rejected = Atomic<Int>(0)
        fileprivate let lastAccepted = Atomic<Int64>(.min)

        /// Counts accepted events.
        func accepted(_ count: Int, at time: Timestamp) {
            accepted.add(count, ordering: .relaxed)
            lastAccepted.store(time.microseconds, ordering: .relaxed)
        }
    }

    /// The events that are shown, in the plan's order, and the counts of all events that a plan ever had.
    private struct Events {
        var names: [String] = []
        var counts: [String: Counts] = [:]
    }

    private let rejectedEvents = Atomic<Int>(0)
    private let events = Mutex(Events())
    private let rejections = Mutex<[RejectionStatistics.Kind: RejectionStatistics]>([:])

    /// Shows these events from now on; returns their counts, which go on if an earlier plan had the event.
    func show(_ names: [String]) -> [Counts] {
        events.withLock { events in
            events.names = names
            return names.map { name in
                let counts = events.counts[name] ?? Counts()
                events.counts[name] = counts
                return counts
            }
        }
    }

    /// Counts rejected events; `explained` are some of them.
    func rejected(_ tally: [RejectionTally.Kind: Int], explained: [Rejection], sender: String, at time: Timestamp) {
        rejectedEvents.add(tally.values.reduce(0, +), ordering: .relaxed)
        events.withLock { events in
            for (kind, count) in tally {
                if let event = kind.event { events.counts[event]?.rejected.add(count, ordering: .relaxed) }
            }
        }
        var samples: [RejectionTally.Kind: [Violation]] = [:]
        for rejection in explained {
            guard let kind = rejection.kind, samples[kind] == nil else { continue }
            samples[kind] = rejection.violations
        }
        rejections.withLock { rejections in
            for (kind, count) in tally {
                var key = RejectionStatistics.Kind(event: kind.event, code: kind.code, sender: sender)
                if rejections[key] == nil, rejections.count >= Self.maximumKinds {
                    key = RejectionStatistics.Kind(event: kind.event, code: kind.code, sender: Self.otherSenders)
                    guard rejections[key] != nil || rejections.count < 2 * Self.maximumKinds else { continue }
                }
                var entry = rejections[key] ?? RejectionStatistics(kind: key, count: 0, last: .min, sample: [])
                entry.count += count
                entry.last = time.microseconds
                if entry.sample.isEmpty || time.microseconds - entry.sampled >= Self.sampleAge,
                    let sample = samples[kind]
                {
                    entry.sample = sample
                    entry.sampled = time.microseconds
                }
                rejections[key] = entry
            }
        }
    }

    /// All events of the plan, in its order.
    var eventStatistics: [EventStatistics] {
        events.withLock { events in
            events.names.compactMap { name in
                events.counts[name].map { counts in
                    let last = counts.lastAccepted.load(ordering: .relaxed)
                    return EventStatistics(
                        name: name,
                        accepted: counts.accepted.load(ordering: .relaxed),
                        rejected: counts.rejected.load(ordering: .relaxed),
                        lastAccepted: last == .min ? nil : last
                    )
                }
            }
        }
    }

    /// How many events were rejected.
    var rejectedCount: Int { rejectedEvents.load(ordering: .relaxed) }

    /// The kinds of rejected events, the latest first.
    var rejectionStatistics: [RejectionStatistics] {
        rejections.withLock { Array($0.values) }.sorted { ($0.last, $0.count) > ($1.last, $1.count) }
    }
}
