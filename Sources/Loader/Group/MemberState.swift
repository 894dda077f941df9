package import SluiceKafka
package import TrackerKit

/// What a member of a consumer group does, as a value: it takes what happened and the time, and returns what has to be done.
package struct MemberState<Record: LoadableRecord>: Sendable {
    package typealias Load = PartitionLoad<Record>

    /// Each phase can transition to `ended` when the consumer cannot be used any more, and each before `ending` to that when the member is
    /// asked to stop.
    package enum Phase: Sendable, Hashable {
        /// The cluster is not known yet.
        ///
        /// Can transition to `joining` when it is.
        case starting
        /// The member waits until its group assigns partitions.
        ///
        /// Can transition to:
        /// - `assigned` when the group does, even if it assigns none.
        /// - `away` when operations of an earlier assignment are under way, or the consumer cannot join the group again.
        /// - `ended` when the consumer cannot join the group at all.
        case joining(since: Duration)
        /// The member has the partitions that the group has assigned.
        ///
        /// Can transition to:
        /// - `releasing` when the group takes them back.
        /// - `joining` when the group has given them to others.
        /// - `away` when an operation does not end, another loader has superseded this one, the consumer does not accept the
        ///   partitions, or the group assigns others while operations are under way.
        case assigned
        /// Batches under way and their commits end; then the partitions are given back. At `until` they are given back in any case.
        ///
        /// Can transition to:
        /// - `joining` when they are, or when the group has given them to others.
        /// - `assigned` when the group assigns others before that, or `away` if operations are still under way then.
        case releasing(until: Duration)
        /// The member has left its group, so that others load its partitions.
        ///
        /// Can transition to `joining` after `until`, when no operation is under way.
        case away(until: Duration)
        /// The member has been asked to stop, and batches under way end until `until`.
        ///
        /// Can transition to `finishing` when all have, or at `until`.
        case ending(until: Duration)
        /// Commits and requests to the brokers end; then the consumer is closed, which gives the partitions back.
        ///
        /// Can transition to `ended` when they have, or at `until`, because brokers may never answer.
        case finishing(until: Duration)
        /// The consumer can be closed. Final.
        case ended
    }

    /// What the thread of the member has to do.
    package enum Action: Sendable {
        /// Take over the partitions that the group has assigned; call `refused` if the consumer does not accept them.
        case assign([Int32])
        /// Take over once more the partitions that the member has; call `refused` if the consumer does not accept them.
        case assignAgain([Int32])
        /// Give all partitions back, and those that the group has just assigned.
        case unassign
        /// Join the group; call `refused` if the consumer cannot.
        case subscribe
        case unsubscribe
        /// Carry an operation out at the destination; the partition is loaded up to `offset`.
        case start(OperationTicket, Load.Operation, LoadedPartition, at: Int64)
        /// Find what these operations need with one request to the brokers.
        case ask([(OperationTicket, Load.Operation)])
        /// Ask for the offsets of these partitions, or, if there are none, whether the brokers answer.
        case askForWatermarks([Int32])
        /// Cancel the operation of a partition.
        case cancel(OperationTicket)
        case commit([Int32: Int64])
        case log(MemberNotice)
    }

    /// How long a revoked partition may finish its batch.
    private static var revocationTime: Duration { .seconds(30) }
    /// How long an operation that was cancelled may take to end.
    private static var cancellationTime: Duration { .seconds(3) }
    /// How long the end of the member waits for the brokers.
    private static var finishingTime: Duration { .seconds(5) }
    /// How often the brokers are asked for the ends of the partitions.
    private static var watermarkPause: Duration { .seconds(5) }
    /// How long a member that another loader has superseded waits for the group to say so, until it leaves the group.
    private static var supersededTime: Duration { .seconds(60) }
    /// The shortest time between two attempts to read all partitions again.
    private static var readingPause: Duration { .seconds(1) }
    /// How long a member that left the group stays away.
    private static var absence: Duration { .seconds(10) }
    /// How long the group may take to assign partitions until that is reported.
    private static var patienceWithGroup: Duration { .seconds(60) }

    private let configuration: LoaderConfiguration
    /// Whether the destination stores the positions; otherwise they are the offsets that the group commits to Kafka.
    private let storesPositions: Bool
    package private(set) var phase = Phase.starting
    /// Why the member has ended without being asked to.
    package private(set) var failure: TrackerError?
    private var cluster = ""
    package private(set) var partitions: [Int32: AssignedPartition<Record>] = [:]
    /// How often the group has assigned partitions.
    private var assignments = 0
    /// Whether the group has assigned partitions since the member last left it or was excluded.
    private var isMember = false
    /// The operations under way, those of earlier assignments included.
    private var lanes: Lanes
    /// Whether a request of partitions to the brokers is under way.
    private var isAsking = false
    /// Whether a request for the ends of the partitions is under way.
    private var isAskingForWatermarks = false
    private var asksForWatermarksAt: Duration = .zero
    /// The partitions are not assigned to the consumer again before this time.
    private var readsAgainAt: Duration = .zero
    private var commits: OffsetCommits
    /// The turns of the partitions in reading and loading.
    private var turns = Turns()

    package init(
        _ configuration: LoaderConfiguration,
        storesPositions: Bool,
        lane: @escaping @Sendable (Int32) -> Int
    ) {
        self.configuration = configuration
        self.storesPositions = storesPositions
        lanes = Lanes(lane)
        commits = OffsetCommits(arePositions: !storesPositions)
    }

    // MARK: State

    package var hasEnded: Bool { phase == .ended }
    package var isStopping: Bool {
        switch phase {
        case .ending, .finishing, .ended: true
        case .starting, .joining, .assigned, .releasing, .away: false
        }
    }
    private var hasOperations: Bool { !lanes.isEmpty }
    private var partitionsAreGivenUp: Bool { partitions.values.allSatisfy(\.load.isGivenUp) }

    /// Whether the member is in its group; a rebalance that takes its time does not end that.
    package func membership(now: Duration) -> MemberStatus.Membership {
        if case .joining(let since) = phase, now - since >= Self.patienceWithGroup { return .waiting(now - since) }
        return isMember ? .joined : .absent
    }

    /// When an operation of a partition can start that waits for its time; everything else waits for the next turn.
    package func wakesAt(now: Duration) -> Duration? {
        // What is due already waits for the end of an operation.
        partitions.values.compactMap { $0.load.wakesAt(now: now) }.filter { $0 > now }.min()
    }

    // MARK: The group

    /// The cluster is known, so the member joins its group.
    ///
    /// Positions are kept for each cluster, because another one has other records at the same offsets.
    package mutating func join(cluster: String, now: Duration) -> [Action] {
        guard case .starting = phase else { return [] }
        self.cluster = cluster
        phase = .joining(since: now)
        return [.subscribe]
    }

    package mutating func handle(_ event: KafkaConsumer.GroupEvent, now: Duration) -> [Action] {
        switch event {
        case .assigned(let numbers): return assign(numbers, now: now)
        case .revoked:
            switch phase {
            // It has given everything back.
            case .starting, .joining, .away: return [.unassign]
            case .assigned, .releasing, .ending, .finishing, .ended: break
            }
            let until = now + Self.revocationTime
            var actions: [Action] = [.log(.revoked(count: partitions.count))]
            // Closing the consumer gives them back.
            if isStopping { return actions }
            revoke(until: until, &actions)
            commits.beginLast(now: now)
            phase = .releasing(until: until)
            return actions
        case .lost:
            var actions: [Action] = [.log(.lost(count: partitions.count))]
            giveUp(&actions)
            isMember = false
            giveBack(&actions)
            switch phase {
            case .assigned, .releasing: phase = .joining(since: now)
            case .starting, .joining, .away, .ending, .finishing, .ended: break
            }
            return actions
        case .failed(let error):
            // An outage ends when requests are answered, and anything else when the group accepts the member.
            return [.log(error.isRetryable ? .requestFailed(error) : .groupFailed(error))]
        case .ended(let error):
            failure = error
            phase = .ended
            return []
        }
    }

    private mutating func assign(_ numbers: [Int32], now: Duration) -> [Action] {
        switch phase {
        case .away, .ending, .finishing, .ended: return [.unassign]
        // Operations of an earlier assignment that do not end would block those of this one.
        case .starting, .joining, .assigned, .releasing: if hasOperations { return leave(now: now) }
        }
        phase = .assigned
        isMember = true
        assignments += 1
        // What could not be stored before belongs to partitions that others may have loaded further since.
        commits.discard()
        partitions = [:]
        for number in numbers {
            let partition = LoadedPartition(
                loader: configuration.name,
                cluster: cluster,
                topic: configuration.topic,
                number: number
            )
            partitions[number] = AssignedPartition(partition, assignment: assignments, limits: configuration.limits)
        }
        return [.log(.assigned(numbers)), .assign(numbers)]
    }

    /// The consumer has refused to assign the partitions or to join the group.
    package mutating func refused(_ error: TrackerError, now: Duration) -> [Action] {
        if isStopping { return [.log(.groupFailed(error))] }
        if case .joining = phase, assignments == 0 {
            failure = error
            phase = .ended
            return []
        }
        return [.log(.groupFailed(error))] + leave(now: now)
    }

    /// Asks the member to finish what is under way, to give its partitions back, and to end.
    package mutating func stop(now: Duration) -> [Action] {
        guard !isStopping else { return [] }
        var deadline = now + Self.revocationTime
        if case .releasing(let until) = phase { deadline = min(deadline, until) }
        var actions: [Action] = []
        revoke(until: deadline, &actions)
        phase = .ending(until: deadline + Self.cancellationTime)
        return actions
    }

    /// Lets the batches of all partitions end until the deadline, and cancels any other operation.
    private mutating func revoke(until deadline: Duration, _ actions: inout [Action]) {
        for number in partitions.keys.sorted() {
            partitions[number]?.load.revoke(deadline: deadline)
            if partitions[number]?.load.isGivenUp == true { cancel(number, &actions) }
        }
    }

    private mutating func giveUp(_ actions: inout [Action]) {
        for number in partitions.keys.sorted() {
            partitions[number]?.load.giveUp()
            cancel(number, &actions)
        }
    }

    private func cancel(_ number: Int32, _ actions: inout [Action]) {
        if let ticket = ticket(of: number) { actions.append(.cancel(ticket)) }
    }

    private mutating func leave(now: Duration) -> [Action] {
        var actions: [Action] = []
        giveUp(&actions)
        isMember = false
        commit(commits.takeAll(now: now), &actions)
        phase = .away(until: now + Self.absence)
        actions.append(.unsubscribe)
        giveBack(&actions)
        return actions
    }

    /// Gives all partitions back; what is not committed of them is dropped, since others may load them further now.
    private mutating func giveBack(_ actions: inout [Action]) {
        partitions = [:]
        commits.discard()
        actions += [.log(.gaveBack), .unassign]
    }

    // MARK: Time

    /// Does what is due; call it after each event, at `wakesAt`, and several times a second.
    ///
    /// `hasLostAssignment` says whether the group has given the partitions to others, although no event has said so yet.
    package mutating func proceed(hasLostAssignment: Bool, now: Duration) -> [Action] {
        var actions: [Action] = []
        giveUpOverdue(&actions, now: now)
        switch phase {
        case .starting, .ended: break
        case .joining(let since):
            if now - since >= Self.patienceWithGroup { actions.append(.log(.groupIsStalled(for: now - since))) }
        case .assigned:
            if let reason = reasonToLeave(now: now) {
                actions.append(.log(.leaves(reason)))
                actions += leave(now: now)
            } else if !hasLostAssignment, let numbers = partitionsToReadAgain(now: now) {
                // If the consumer does not accept them, the member leaves its group, so nothing else is done in this turn.
                return actions + [.log(.readsAgain(numbers)), .assignAgain(numbers)]
            } else {
                startOperations(&actions, now: now)
            }
        case .releasing(let until):
            guard partitionsAreGivenUp else { break }
            commit(commits.takeLast(now: now), &actions)
            // A claim that ended after the next owner's would take the partition from it, and the next owner begins where the commits say.
            if (!hasOperations && commits.areSettled) || now >= until {
                giveBack(&actions)
                phase = .joining(since: now)
            }
        case .away(let until):
            if now >= until, !hasOperations {
                phase = .joining(since: now)
                actions.append(.subscribe)
            }
        case .ending(let until):
            guard (partitionsAreGivenUp && !hasOperations) || now >= until else { break }
            commit(commits.takeAll(now: now), &actions)
            phase = .finishing(until: now + Self.finishingTime)
            if isSettled { phase = .ended }
        case .finishing(let until): if isSettled || now >= until { phase = .ended }
        }
        for number in partitions.keys.sorted() {
            guard let halt = partitions[number]?.takeHaltChange() else { continue }
            actions.append(.log(.partition(number, .halted(halt))))
        }
        commit(commits.takeDue(now: now), &actions)
        askForWatermarks(&actions, now: now)
        return actions
    }

    /// Whether the end of the member has nothing to wait for.
    private var isSettled: Bool {
        // An operation that has not ended by now keeps the consumer open, so requests do not matter any more.
        commits.areSettled && (hasOperations || (!isAsking && !isAskingForWatermarks))
    }

    private mutating func giveUpOverdue(_ actions: inout [Action], now: Duration) {
        for number in partitions.keys.sorted() where partitions[number]?.load.giveUpIfOverdue(now: now) == true {
            cancel(number, &actions)
            actions.append(.log(.gaveUpBatch(number)))
        }
    }

    /// Why the member leaves its group: an operation does not end, since polling alone makes the member look alive, or another loader
    /// has superseded this one in a partition and the group does not say so.
    private func reasonToLeave(now: Duration) -> String? {
        for (number, partition) in partitions {
            if partition.load.isStuck(now: now) { return "an operation of partition \(number) does not end" }
            if let since = partition.supersededSince, now >= since + Self.supersededTime {
                return "the stored epoch of partition \(number) is another one"
            }
        }
        return nil
    }

    /// All partitions, if librdkafka has stopped reading one of them: it then refuses to seek in that one until it is assigned again.
    private mutating func partitionsToReadAgain(now: Duration) -> [Int32]? {
        guard now >= readsAgainAt, partitions.values.contains(where: \.hasStopped) else { return nil }
        readsAgainAt = now + Self.readingPause
        let numbers = partitions.keys.sorted()
        for number in numbers { partitions[number]?.readAgain() }
        return numbers
    }

    /// Asks the brokers for the ends of the partitions from time to time, since answers with records come only while records are taken.
    private mutating func askForWatermarks(_ actions: inout [Action], now: Duration) {
        guard now >= asksForWatermarksAt, !isAskingForWatermarks, !isStopping, phase != .starting else { return }
        isAskingForWatermarks = true
        actions.append(.askForWatermarks(partitions.keys.sorted()))
    }

    // MARK: Reading

    /// The partitions in the order of reading: first what is next in turn, so that its batches are complete.
    package var readingOrder: [Int32] { turns.sorted(partitions.keys) }

    /// How many bytes of records may be read now.
    package var readingBudget: Int {
        partitions.values.reduce(configuration.limits.totalBufferedBytes) {
            $0 - ($1.load.isHeldUp ? 0 : $1.load.bufferedBytes)
        }
    }

    /// Takes records of a partition, at most one batch.
    ///
    /// `isIdle` says whether its queue is empty, or nothing is wanted from it.
    package mutating func read(
        _ number: Int32,
        from source: PartitionSource<Record>,
        budget: inout Int,
        now: Duration
    ) -> (isIdle: Bool, actions: [Action]) {
        // Taken out, so that its buffer is not copied when it changes.
        guard var partition = partitions.removeValue(forKey: number) else { return (true, []) }
        var notices: [PartitionNotice] = []
        let isIdle = partition.read(
            source,
            atMost: configuration.limits.batchRecords,
            budget: &budget,
            &notices,
            now: now
        )
        partitions[number] = partition
        return (isIdle, notices.map { .log(.partition(number, $0)) })
    }

    // MARK: Operations

    /// Starts what the partitions have to do next: claims in the order of the partitions, and then batches in turn.
    private mutating func startOperations(_ actions: inout [Action], now: Duration) {
        var demands: [Load.Demand: [Int32]] = [:]
        // If no partition may read more, waiting for more records would be in vain.
        let lingers = readingBudget > 0
        for number in partitions.keys.sorted() {
            guard let demand = partitions[number]?.load.demand(now: now, lingers: lingers) else { continue }
            demands[demand, default: []].append(number)
        }
        if !isAsking, let numbers = demands[.kafka] { ask(about: numbers, &actions, now: now) }
        for number in (demands[.claim] ?? []) + turns.sorted(demands[.load] ?? [])
        where lanes.hasRoom(forPartition: number) {
            start(number, &actions, now: now)
        }
    }

    /// Starts the operations of partitions that need offsets from the brokers, with one request for all of them.
    private mutating func ask(about numbers: [Int32], _ actions: inout [Action], now: Duration) {
        let operations = numbers.compactMap { number -> (OperationTicket, Load.Operation)? in
            guard let operation = partitions[number]?.load.nextOperation(now: now), let ticket = ticket(of: number)
            else { return nil }
            return (ticket, operation)
        }
        guard !operations.isEmpty else { return }
        isAsking = true
        actions.append(.ask(operations))
    }

    private mutating func start(_ number: Int32, _ actions: inout [Action], now: Duration) {
        guard let operation = partitions[number]?.load.nextOperation(now: now), let ticket = ticket(of: number),
            let load = partitions[number]?.load
        else { return }
        if case .load = operation { turns.serve(number) }
        lanes.enter(number)
        actions.append(.start(ticket, operation, load.partition, at: load.committedOffset ?? 0))
    }

    private func ticket(of number: Int32) -> OperationTicket? {
        partitions[number].map { OperationTicket(partition: number, assignment: $0.assignment) }
    }

    // MARK: Results

    /// An operation has ended at the destination.
    package mutating func ended(_ ticket: OperationTicket, _ result: OperationResult, now: Duration) -> [Action] {
        lanes.leave(ticket.partition)
        var actions: [Action] = []
        finish(result, of: ticket, &actions, now: now)
        return actions
    }

    /// The brokers have answered what the operations need.
    package mutating func answered(_ results: [(OperationTicket, OperationResult)], now: Duration) -> [Action] {
        isAsking = false
        var actions: [Action] = []
        for (ticket, result) in results { finish(result, of: ticket, &actions, now: now) }
        return actions
    }

    /// The brokers have reported the offsets of partitions, or why some are missing.
    package mutating func found(
        _ found: [Int32: KafkaConsumer.Watermarks],
        _ error: TrackerError?,
        now: Duration
    ) -> [Action] {
        isAskingForWatermarks = false
        asksForWatermarksAt = now + Self.watermarkPause
        for (number, watermarks) in found { partitions[number]?.watermarks = watermarks }
        return [.log(error.map(MemberNotice.requestFailed) ?? .requestSucceeded)]
    }

    private mutating func finish(
        _ result: OperationResult,
        of ticket: OperationTicket,
        _ actions: inout [Action],
        now: Duration
    ) {
        let number = ticket.partition
        // Otherwise it belongs to an earlier assignment.
        guard partitions[number]?.assignment == ticket.assignment,
            // Taken out, so that its buffer is not copied when it changes.
            var partition = partitions.removeValue(forKey: number)
        else { return }
        if let error = result.requestError { actions.append(.log(.requestFailed(error))) }
        var notices: [PartitionNotice] = []
        let next = partition.finish(result, storesPositions: storesPositions, &notices, now: now)
        partitions[number] = partition
        for notice in notices { actions.append(.log(.partition(number, notice))) }
        if let next { commits.add(next, of: number) }
    }

    // MARK: Commits

    /// Whether the partitions may have another owner, so that the group does not take their offsets.
    private var isReassigned: Bool {
        switch phase {
        case .starting, .joining, .releasing, .away: true
        case .assigned, .ending, .finishing, .ended: partitions.isEmpty
        }
    }

    private func commit(_ offsets: [Int32: Int64], _ actions: inout [Action]) {
        if !offsets.isEmpty { actions.append(.commit(offsets)) }
    }

    /// Kafka has stored offsets, or the commit has failed.
    package mutating func committed(_ result: Result<Void, TrackerError>, now: Duration) -> [Action] {
        switch result {
        case .success:
            commits.succeeded()
            return [.log(.commitSucceeded)]
        case .failure(let error):
            commits.failed(
                partitions.compactMapValues(\.load.committedOffset),
                isLast: phase != .assigned,
                now: now
            )
            return [.log(.commitFailed(error, isExpected: isReassigned))]
        }
    }
}
