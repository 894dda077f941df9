import EventModel
package import TrackerKit

/// What a topic's settings promise about the messages in it; `nil` where the brokers did not say.
package struct TopicGuarantees: Sendable, Hashable {
    /// The smallest number of replicas of a partition.
    package var replicas: Int?
    /// `min.insync.replicas`: how many replicas have a message when it is acknowledged.
    package var minimumInSyncReplicas: Int?
    /// `cleanup.policy`.
    package var cleanupPolicy: String?
    /// `unclean.leader.election.enable`: whether a replica that lacks acknowledged messages may become the leader.
    package var allowsUncleanElection: Bool?

    /// `retention.ms`; negative if messages are never removed.
    package var retentionMilliseconds: Int64?
    /// `segment.ms`: after this time, a file of the log takes no more messages, and only then can it be removed.
    package var segmentMilliseconds: Int64?

    /// The longest time that the topic keeps a message; `nil` if it keeps some for ever, or if the brokers did not say.
    package var longestRetention: Duration? {
        guard let cleanupPolicy, cleanupPolicy.split(separator: ",").contains("delete"),
            let retentionMilliseconds, retentionMilliseconds >= 0, let segmentMilliseconds
        else { return nil }
        return .milliseconds(retentionMilliseconds) + .milliseconds(segmentMilliseconds)
    }

    /// Nothing is known yet.
    package init() {}

    /// Why the topic does not promise enough; empty if it does, as far as is known.
    func shortcomings(for requirement: KafkaConfiguration.TopicRequirement) -> [String] {
        guard requirement != .none else { return [] }
        var found: [String] = []
        if let cleanupPolicy, cleanupPolicy != "delete" {
            found.append(
                "cleanup.policy is '\(cleanupPolicy)', and a relay needs 'delete', since compaction removes events"
            )
        }
        guard requirement == .replicated else { return found }
        if let replicas, replicas < 2 {
            found.append("a partition has \(replicas.of("replica")), and relay.acknowledge 'brokers' needs at least 2")
        }
        if let minimumInSyncReplicas, minimumInSyncReplicas < 2 {
            found.append(
                "min.insync.replicas is \(minimumInSyncReplicas), and relay.acknowledge 'brokers' needs at least 2"
            )
        }
        if allowsUncleanElection == true {
            found.append("unclean.leader.election.enable is true, so a failover may lose acknowledged events")
        }
        return found
    }

    /// The error of a topic that does not promise enough; `nil` if it does, as far as is known.
    package func problem(with topic: String, for requirement: KafkaConfiguration.TopicRequirement) -> TrackerError? {
        let shortcomings = shortcomings(for: requirement)
        guard !shortcomings.isEmpty else { return nil }
        return TrackerError(
            code: .notPrepared,
            message:
                "The topic '\(topic)' does not promise what a relay needs: \(shortcomings.joined(separator: "; ")).",
            isRetryable: false
        )
    }

    /// The settings that matter for a requirement and that the brokers did not say.
    package func unknowns(for requirement: KafkaConfiguration.TopicRequirement) -> [String] {
        guard requirement != .none else { return [] }
        var names: [String] = []
        if cleanupPolicy == nil { names.append("cleanup.policy") }
        guard requirement == .replicated else { return names }
        if replicas == nil { names.append("the number of replicas") }
        if minimumInSyncReplicas == nil { names.append("min.insync.replicas") }
        if allowsUncleanElection == nil { names.append("unclean.leader.election.enable") }
        return names
    }
}

extension TopicGuarantees {
    /// Takes over a setting by its name; ignores all others.
    package mutating func set(_ name: String, _ value: String) {
        switch name {
        case "min.insync.replicas": minimumInSyncReplicas = Int(value)
        case "retention.ms": retentionMilliseconds = Int64(value)
        case "segment.ms": segmentMilliseconds = Int64(value)
        case "cleanup.policy": cleanupPolicy = value
        case "unclean.leader.election.enable": allowsUncleanElection = value == "true"
        default: break
        }
    }
}
