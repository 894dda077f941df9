import SluiceKafka

/// A consumer group: its coordinator, and what librdkafka does for each member between the coordinator and the program.
struct SimulatedGroup {
    /// What librdkafka knows of a member; `RD_KAFKA_CGRP_JOIN_STATE` has the same states.
    struct Client {
        enum State {
            case idle, joins, steady
            /// Until the program takes the assignment, or does not.
            case awaitsAssign
            /// Until the program gives the partitions back; that they are lost is known before the event is.
            case awaitsUnassign(isLost: Bool, isTold: Bool)
        }

        fileprivate(set) var state = State.idle
        /// The events that the program has not taken.
        var events: [KafkaConsumer.GroupEvent] = []
        /// What the group has assigned last, and in which of its generations.
        fileprivate(set) var assignment: [Int32] = []
        fileprivate(set) var generation = 0
        fileprivate var isSubscribed = false
        /// The subscription that waits for the end of the rebalance.
        fileprivate var nextSubscription: Bool?
        fileprivate var leavesAfterUnassign = false

        var hasLostAssignment: Bool { if case .awaitsUnassign(isLost: true, _) = state { true } else { false } }
        var isSteady: Bool { if case .steady = state { true } else { false } }
        /// Whether the program has partitions that it has not given back.
        var hasPartitions: Bool {
            switch state {
            case .steady, .awaitsUnassign: true
            case .idle, .joins, .awaitsAssign: false
            }
        }
        var awaitsAnswer: Bool {
            switch state {
            case .awaitsAssign, .awaitsUnassign: true
            case .idle, .joins, .steady: false
            }
        }
    }

    static let sessionTimeout = Duration.seconds(10)
    static let rebalanceTimeout = Duration.seconds(45)

    let partitions: Int
    var clients: [Int: Client] = [:]
    /// The members, as the coordinator knows them, and when it has last heard of each.
    private var members: [Int: Duration] = [:]
    /// The members that have joined the rebalance under way.
    private var joined: Set<Int> = []
    private var assigned: [Int: [Int32]] = [:]
    private var generation = 0
    private var rebalancingSince: Duration?
    /// The coordinator ends no rebalance and stores no offsets before this time.
    var silentUntil: Duration = .zero
    /// The offsets that were committed.
    private(set) var offsets: [Int32: Int64] = [:]

    init(partitions: Int) {
        self.partitions = partitions
    }

    // MARK: Calls of a program

    mutating func subscribe(_ id: Int, now: Duration) { set(subscription: true, of: id, now: now) }

    mutating func unsubscribe(_ id: Int, now: Duration) { set(subscription: false, of: id, now: now) }

    private mutating func set(subscription: Bool, of id: Int, now: Duration) {
        guard let client = clients[id], !client.awaitsAnswer else {
            clients[id]?.nextSubscription = subscription
            return
        }
        clients[id]?.isSubscribed = subscription
        switch client.state {
        case .idle: if subscription { join(id, now: now) }
        case .joins:
            if !subscription {
                exclude(id, now: now)
                clients[id]?.state = .idle
            }
        case .steady:
            if !subscription {
                clients[id]?.leavesAfterUnassign = true
                revoke(id)
            }
        case .awaitsAssign, .awaitsUnassign: break
        }
    }

    mutating func assign(_ id: Int, now: Duration) {
        guard case .awaitsAssign? = clients[id]?.state else { return }
        clients[id]?.state = .steady
        applyNextSubscription(id, now: now)
    }

    mutating func unassign(_ id: Int, now: Duration) {
        if case .awaitsAssign? = clients[id]?.state {
            // If the member unsubscribed before, a revocation follows, which has to be answered, too.
            return assign(id, now: now)
        }
        guard let client = clients[id], case .awaitsUnassign = client.state else { return }
        clients[id]?.state = .idle
        if client.leavesAfterUnassign {
            clients[id]?.leavesAfterUnassign = false
            exclude(id, now: now)
        }
        applyNextSubscription(id, now: now)
        if let client = clients[id], client.isSubscribed, case .idle = client.state { join(id, now: now) }
    }

    private mutating func applyNextSubscription(_ id: Int, now: Duration) {
        guard let next = clients[id]?.nextSubscription.take() else { return }
        set(subscription: next, of: id, now: now)
    }

    /// The program ends; `leaves` is false if it was killed.
    mutating func end(_ id: Int, leaves: Bool, now: Duration) {
        clients[id] = nil
        if leaves { exclude(id, now: now) }
    }

    /// Stores offsets that were sent in a generation; returns whether the group takes them.
    mutating func commit(_ committed: [Int32: Int64], of id: Int, generation sent: Int) -> Bool {
        guard members[id] != nil, sent == generation else { return false }
        offsets.merge(committed) { $1 }
        return true
    }

    // MARK: The protocol

    private mutating func revoke(_ id: Int) {
        clients[id]?.state = .awaitsUnassign(isLost: false, isTold: true)
        clients[id]?.events.append(.revoked)
    }

    private mutating func join(_ id: Int, now: Duration) {
        clients[id]?.state = .joins
        members[id] = now
        if rebalancingSince == nil { beginRebalance(now: now) }
        joined.insert(id)
    }

    private mutating func exclude(_ id: Int, now: Duration) {
        guard members.removeValue(forKey: id) != nil else { return }
        joined.remove(id)
        assigned[id] = nil
        if rebalancingSince == nil { beginRebalance(now: now) }
    }

    private mutating func beginRebalance(now: Duration) {
        rebalancingSince = now
        joined = []
        assigned = [:]
    }

    /// What librdkafka's thread does for a process that runs: heartbeats, and their answers.
    mutating func beat(_ id: Int, now: Duration) {
        guard let client = clients[id] else { return }
        let isMember = members[id] != nil
        if isMember { members[id] = now }
        switch client.state {
        // Nothing else happens before the program has answered.
        case .idle, .awaitsAssign: break
        case .awaitsUnassign(let isLost, let isTold):
            if !isTold {
                clients[id]?.state = .awaitsUnassign(isLost: isLost, isTold: true)
                clients[id]?.events.append(.lost)
            }
        case .steady:
            if !isMember {
                clients[id]?.state = .awaitsUnassign(isLost: true, isTold: false)
            } else if rebalancingSince != nil || client.generation != generation {
                revoke(id)
            }
        case .joins:
            if !isMember {
                join(id, now: now)
            } else if rebalancingSince == nil, let numbers = assigned[id] {
                clients[id]?.state = .awaitsAssign
                clients[id]?.assignment = numbers
                clients[id]?.generation = generation
                clients[id]?.events.append(.assigned(numbers))
            } else if rebalancingSince != nil {
                joined.insert(id)
            }
        }
    }

    /// What the coordinator does as time passes.
    mutating func coordinate(now: Duration) {
        for (id, time) in members.sorted(by: { $0.key < $1.key }) where now - time > Self.sessionTimeout {
            exclude(id, now: now)
        }
        guard let since = rebalancingSince, now >= silentUntil else { return }
        if now - since >= Self.rebalanceTimeout {
            for id in members.keys where !joined.contains(id) { members[id] = nil }
        }
        let ids = members.keys.sorted()
        guard !ids.isEmpty, joined == Set(ids) else { return }
        rebalancingSince = nil
        generation += 1
        for id in ids { assigned[id] = [] }
        for partition in 0..<partitions { assigned[ids[partition % ids.count], default: []].append(Int32(partition)) }
    }
}
