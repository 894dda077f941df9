import EventModel
import EventSchema
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
    private final class Counts: Sendable {
        let accepted = Atomic<Int>(0)
        let rejected = Atomic<Int>(0)
        let lastAccepted = Atomic<Int64>(.min)
    }

    private let names: [String]
    private let events: [Counts]
    private let rejections = Mutex<[RejectionStatistics.Kind: RejectionStatistics]>([:])

    init(catalog: EventCatalog) {
        names = catalog.definitions.map(\.name)
        events = names.map { _ in Counts() }
    }

    /// Counts accepted events of a definition.
    func accepted(_ count: Int, of definition: Int, at time: Timestamp) {
        events[definition].accepted.add(count, ordering: .relaxed)
        events[definition].lastAccepted.store(time.microseconds, ordering: .relaxed)
    }

    /// What a rejected event is counted by; `nil` if it broke no rule.
    func kind(of rejection: Rejection) -> RejectionTally.Kind? {
        guard let code = rejection.violations.first?.code else { return nil }
        return .init(definitionIndex: rejection.name.flatMap { names.firstIndex(of: $0) }, code: code)
    }

    /// Counts rejected events; `explained` are some of them.
    func rejected(_ tally: [RejectionTally.Kind: Int], explained: [Rejection], sender: String, at time: Timestamp) {
        for (kind, count) in tally {
            if let index = kind.definitionIndex { events[index].rejected.add(count, ordering: .relaxed) }
        }
        var samples: [RejectionTally.Kind: [Violation]] = [:]
        for rejection in explained {
            guard let kind = kind(of: rejection), samples[kind] == nil else { continue }
            samples[kind] = rejection.violations
        }
        rejections.withLock { rejections in
            for (kind, count) in tally {
                let event = kind.definitionIndex.map { names[$0] }
                var key = RejectionStatistics.Kind(event: event, code: kind.code, sender: sender)
                if rejections[key] == nil, rejections.count >= Self.maximumKinds {
                    key = RejectionStatistics.Kind(event: event, code: kind.code, sender: Self.otherSenders)
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
        zip(names, events).map { name, counts in
            let last = counts.lastAccepted.load(ordering: .relaxed)
            return EventStatistics(
                name: name,
                accepted: counts.accepted.load(ordering: .relaxed),
                rejected: counts.rejected.load(ordering: .relaxed),
                lastAccepted: last == .min ? nil : last
            )
        }
    }

    /// The kinds of rejected events, the latest first.
    var rejectionStatistics: [RejectionStatistics] {
        rejections.withLock { Array($0.values) }.sorted { ($0.last, $0.count) > ($1.last, $1.count) }
    }
}
