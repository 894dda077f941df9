import Loader
import SluiceKafka
import TestCases
import Testing
import TrackerKit

/// Members of a consumer group, its coordinator, a topic and a destination, driven by a seed.
///
/// Members freeze until the group has excluded them, vanish and are replaced, stop and start; the coordinator ends no rebalance for minutes;
/// answers come late or not at all; the consumer loses its place, stops reading, refuses to seek, to join and to take partitions over.
/// Records are written meanwhile. The destination has no primary key, which would hide duplicates.
struct GroupSimulation {
    typealias Record = LoaderSimulation.Record
    typealias State = MemberState<Record>
    typealias Load = PartitionLoad<Record>

    /// What goes wrong.
    enum Faults {
        case all
        /// Members only join and are asked to stop.
        case none
    }

    struct Member {
        /// How the coordinator knows it; a process that is started again has another one.
        var id: Int
        var state: State
        let consumer: SimulatedConsumer
        var frozenUntil: Duration = .zero
        var isAskedToStop = false
        /// When the process runs again; `nil` while it does.
        var restartsAt: Duration?
        /// How long the member has run without answering a change of its assignment.
        var unansweredFor: Duration = .zero
        /// The operations under way at the destination, with the generation of the group in which they began.
        var operations: [OperationTicket: Int] = [:]
        /// Those of them that do not end, and since when.
        var hung: [OperationTicket: (operation: Load.Operation, since: Duration)] = [:]
        /// Where the group's offsets let a partition begin.
        var located: [OperationTicket: Int64] = [:]
    }

    /// Offsets on their way to the coordinator.
    struct Commit {
        let offsets: [Int32: Int64]
        let generation: Int
        let arrival: Duration
    }

    enum Delayed {
        /// The destination carries an operation out.
        case effect(member: Int, OperationTicket, Load.Operation, at: Int64)
        case ended(member: Int, OperationTicket, OperationResult)
        case answered(member: Int, [(OperationTicket, OperationResult)])
        case watermarks(member: Int, TrackerError?)
        case committed(member: Int, isStored: Bool)
    }

    static let partitions = 5
    /// How long a member may take to answer a change of its assignment: what a revocation takes at most, and the end of a member.
    private static let longestAnswer = Duration.seconds(39)
    private static let step = Duration.milliseconds(100)
    private static let stuckAfter = Duration.seconds(20)
    /// How long faults are injected and records are written.
    private static let faultySteps = 2_000
    /// Within this time, everything is loaded: a member that has been superseded leaves after a minute, stays away for 10 s, and waits for a
    /// rebalance; and all of that may happen a second time because of operations that began before.
    private static let calmSteps = 2_400

    let storesPositions: Bool
    let faults: Faults
    var random: SeededGenerator
    var now: Duration = .zero
    let topic: SimulatedTopic
    var stored: [LoaderSimulation.Stored]
    var members: [Member] = []
    var group = SimulatedGroup(partitions: Self.partitions)
    var delayed: [(at: Duration, number: Int, Delayed)] = []
    /// The commits of each member; requests on one connection keep their order.
    var commits: [Int: [Commit]] = [:]
    var number = 0
    var lastID = 0
    var isCalm = false
    /// What must not happen, and did.
    private(set) var violations: [String] = []
    /// What has happened to the members.
    private(set) var events: Set<String> = []
    private var configuration = LoaderConfiguration(name: "loader", brokers: "", topic: "t", owner: "o")

    /// Creates a simulation; with `storesPositions`, the destination stores the positions, and otherwise the group does.
    init(seed: UInt64, storesPositions: Bool, faults: Faults = .all) {
        self.storesPositions = storesPositions
        self.faults = faults
        random = SeededGenerator(seed: seed)
        configuration.limits.batchRecords = 7
        configuration.limits.bufferedRecords = 12
        configuration.limits.heldUpBytes = 30
        configuration.limits.totalBufferedBytes = 400
        configuration.limits.stuckAfter = Self.stuckAfter
        topic = SimulatedTopic(partitions: Self.partitions, &random)
        stored = Array(repeating: LoaderSimulation.Stored(), count: Self.partitions)
        for _ in 0..<Int.random(in: 1...4, using: &random) { members.append(makeMember()) }
    }

    private mutating func makeMember() -> Member {
        lastID += 1
        let lanes = storesPositions ? 2 : 1
        group.clients[lastID] = SimulatedGroup.Client()
        let consumer = SimulatedConsumer(of: topic, seed: random.next())
        consumer.isCalm = isCalm || faults == .none
        return Member(
            id: lastID,
            state: State(configuration, storesPositions: storesPositions, lane: { Int($0) % lanes }),
            consumer: consumer
        )
    }

    // MARK: Time

    /// Runs until everything is loaded; no faults are injected after a while.
    mutating func run() {
        for step in 0..<Self.faultySteps + Self.calmSteps {
            now += Self.step
            if step == Self.faultySteps { calmDown() }
            if !isCalm {
                injectFaults()
                // About 80 records for each partition.
                if chance(20) { topic.write(to: Int.random(in: 0..<Self.partitions, using: &random), &random) }
            }
            for member in members.indices {
                if let time = members[member].restartsAt, now >= time { members[member] = makeMember() }
            }
            processDelayed()
            processCommits()
            for member in members.indices where isRunning(member) { group.beat(members[member].id, now: now) }
            group.coordinate(now: now)
            for member in members.indices where isRunning(member) { turn(member) }
            if !violations.isEmpty { return }
            if isCalm, isComplete { return }
        }
        violations.append("not loaded: \(stored.map(\.next)) of \(topic.ends), \(members.map(\.state.phase))")
    }

    private var isComplete: Bool {
        zip(Int32(0)..., topic.ends).allSatisfy { partition, end in
            (storesPositions ? stored[Int(partition)].next : group.offsets[partition]) == end
        }
    }

    private mutating func calmDown() {
        isCalm = true
        group.silentUntil = now
        for member in members.indices {
            members[member].consumer.isCalm = true
            // Whoever watches the processes ends one whose operation does not end.
            if !members[member].hung.isEmpty { end(member, leaves: false, restartsAfter: .seconds(1)) }
        }
    }

    private func isRunning(_ member: Int) -> Bool {
        members[member].restartsAt == nil && members[member].frozenUntil <= now
    }

    private mutating func injectFaults() {
        let member = Int.random(in: members.indices, using: &random)
        if chance(faults == .none ? 30 : 3, of: 1000) { members[member].isAskedToStop = true }
        if chance(1, of: 1000), members.count < 5 { members.append(makeMember()) }
        guard faults == .all else { return }
        if chance(5, of: 1000) { members[member].frozenUntil = now + delay(40_000) }
        if chance(3, of: 1000), members[member].restartsAt == nil {
            end(member, leaves: false, restartsAfter: delay(15_000))
        }
        if chance(1, of: 1000) { group.silentUntil = now + delay(120_000) }
        if chance(2, of: 1000) {
            let event: KafkaConsumer.GroupEvent = chance(5) ? .ended(.failure) : .failed(.failure)
            group.clients[members[member].id]?.events.append(event)
        }
    }

    /// Whether something goes wrong now.
    mutating func fails(_ count: Int, of total: Int = 100) -> Bool {
        faults == .all && !isCalm && chance(count, of: total)
    }

    private mutating func chance(_ count: Int, of total: Int = 100) -> Bool {
        Int.random(in: 0..<total, using: &random) < count
    }

    private mutating func delay(_ longest: Int) -> Duration {
        .milliseconds(Int.random(in: 1...longest, using: &random))
    }

    private mutating func schedule(_ event: Delayed, after delay: Duration) {
        number += 1
        delayed.append((now + delay, number, event))
    }

    private mutating func end(_ member: Int, leaves: Bool, restartsAfter pause: Duration) {
        group.end(members[member].id, leaves: leaves, now: now)
        members[member].restartsAt = now + pause
    }

    // MARK: A member

    private mutating func turn(_ member: Int) {
        let id = members[member].id
        if case .starting = members[member].state.phase {
            carryOut(members[member].state.join(cluster: "c", now: now), member)
        }
        while group.clients[id]?.events.isEmpty == false, let event = group.clients[id]?.events.removeFirst() {
            carryOut(members[member].state.handle(event, now: now), member)
        }
        if members[member].isAskedToStop { carryOut(members[member].state.stop(now: now), member) }
        read(member)
        let hasLost = group.clients[id]?.hasLostAssignment ?? false
        carryOut(members[member].state.proceed(hasLostAssignment: hasLost, now: now), member)
        check(member)
        if members[member].state.hasEnded { end(member, leaves: true, restartsAfter: delay(5_000)) }
    }

    /// What must be so after each turn.
    private mutating func check(_ member: Int) {
        let phase = members[member].state.phase
        switch phase {
        case .releasing(let until), .ending(let until), .finishing(let until):
            if now > until { violations.append("overdue: \(phase) at \(now)") }
        case .starting, .joining, .assigned, .away, .ended: break
        }
        guard let client = group.clients[members[member].id] else { return }
        members[member].unansweredFor = client.awaitsAnswer ? members[member].unansweredFor + Self.step : .zero
        if members[member].unansweredFor > Self.longestAnswer, !members[member].state.hasEnded {
            violations.append("a change of the assignment is not answered: \(phase) at \(now)")
        }
        checkPartitions(member, client)
    }

    private mutating func checkPartitions(_ member: Int, _ client: SimulatedGroup.Client) {
        let (phase, partitions) = (members[member].state.phase, members[member].state.partitions)
        switch phase {
        case .assigned:
            if client.isSteady, partitions.keys.sorted() != client.assignment {
                violations.append("loads \(partitions.keys.sorted()) instead of \(client.assignment) at \(now)")
            }
            for (ticket, hung) in members[member].hung
            where partitions[ticket.partition]?.assignment == ticket.assignment {
                // Its member has left the group a moment after the limit.
                if now > hung.since + Self.stuckAfter + .seconds(1) {
                    violations.append("an operation does not end, and the member stays at \(now)")
                }
            }
        case .starting, .joining, .away:
            if !partitions.isEmpty { violations.append("keeps \(partitions.keys.sorted()): \(phase) at \(now)") }
        case .releasing, .ending, .finishing, .ended: break
        }
    }

    private mutating func read(_ member: Int) {
        var budget = members[member].state.readingBudget
        for number in members[member].state.readingOrder {
            let consumer = members[member].consumer
            let source = PartitionSource<Record>(
                seek: { consumer.seek(number, to: $0) },
                next: { consumer.next(number) }
            )
            carryOut(members[member].state.read(number, from: source, budget: &budget, now: now).actions, member)
        }
    }

    private mutating func carryOut(_ actions: [State.Action], _ member: Int) {
        for action in actions { carryOut(action, member) }
    }

    private mutating func carryOut(_ action: State.Action, _ member: Int) {
        let id = members[member].id
        switch action {
        case .assign(let numbers), .assignAgain(let numbers):
            if fails(2) { return carryOut(members[member].state.refused(.failure, now: now), member) }
            members[member].consumer.assign(numbers)
            group.assign(id, now: now)
        case .unassign:
            members[member].consumer.assign([])
            group.unassign(id, now: now)
        case .subscribe:
            if fails(2) { return carryOut(members[member].state.refused(.failure, now: now), member) }
            group.subscribe(id, now: now)
        case .unsubscribe: group.unsubscribe(id, now: now)
        case .start(let ticket, let operation, let partition, let offset):
            #expect(partition.number == ticket.partition)
            started(ticket, member)
            // A statement may wait at the destination until the member has lost its partitions.
            let wait = fails(2) ? delay(40_000) : delay(300)
            schedule(.effect(member: id, ticket, operation, at: offset), after: wait)
            check(operation, of: ticket, member)
        case .ask(let operations): answer(operations, member)
        case .askForWatermarks: schedule(.watermarks(member: id, fails(3) ? .failure : nil), after: delay(300))
        case .cancel(let ticket):
            // It may not end even now.
            guard let hung = members[member].hung[ticket], !fails(20) else { break }
            members[member].hung[ticket] = nil
            schedule(.ended(member: id, ticket, failure(of: hung.operation)), after: delay(500))
        case .commit(let offsets):
            let generation = group.clients[id]?.generation ?? 0
            commits[id, default: []].append(Commit(offsets: offsets, generation: generation, arrival: now + delay(200)))
        case .log(let notice): events.insert(notice.kind)
        }
    }

    private mutating func started(_ ticket: OperationTicket, _ member: Int) {
        let phase = members[member].state.phase
        if phase != .assigned { violations.append("an operation starts: \(phase) at \(now)") }
        let generation = group.clients[members[member].id]?.generation ?? 0
        let earlier = members[member].operations.updateValue(generation, forKey: ticket)
        if earlier != nil { violations.append("two operations of a partition at \(now)") }
        let lanes: Int32 = storesPositions ? 2 : 1
        let sameLane = members[member].operations.keys.filter { $0.partition % lanes == ticket.partition % lanes }
        if sameLane.count > 2 { violations.append("three operations in a lane at \(now)") }
    }

    /// What the group had committed when the member looked for its start is not loaded again.
    private mutating func check(_ operation: Load.Operation, of ticket: OperationTicket, _ member: Int) {
        guard case .load(let batch) = operation, let located = members[member].located[ticket] else { return }
        if batch.start < located { violations.append("\(batch.start) is loaded, before \(located) at \(now)") }
    }

    // MARK: The brokers and the destination

    private mutating func answer(_ operations: [(OperationTicket, Load.Operation)], _ member: Int) {
        let id = members[member].id
        let results = operations.compactMap { ticket, operation -> (OperationTicket, OperationResult)? in
            let partition = Int(ticket.partition)
            let watermarks = topic.watermarks(of: partition)
            let hasFailed = fails(4)
            switch operation {
            case .locate:
                let offset = storesPositions ? nil : group.offsets[ticket.partition]
                let start = PartitionStart(
                    offset: offset ?? watermarks.low,
                    watermarks: watermarks,
                    isStored: offset != nil
                )
                members[member].located[ticket] = offset
                return (ticket, .located(hasFailed ? .failure(.failure) : .success(start)))
            case .compare(let position):
                return (ticket, .watermarks(hasFailed ? .failure(.failure) : .success(watermarks), position))
            case .claim, .renew, .accept, .load: return nil
            }
        }
        #expect(results.count == operations.count)
        schedule(.answered(member: id, results), after: delay(500))
    }

    private mutating func processDelayed() {
        let due = delayed.filter { $0.at <= now }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
        delayed.removeAll { $0.at <= now }
        for (_, _, event) in due {
            switch event {
            case .effect(let id, let ticket, let operation, let offset):
                // A claim that is carried out after the next owner's supersedes that one.
                if faults == .none, !isOwned(ticket, by: id) {
                    violations.append("an operation outlives its assignment at \(now)")
                }
                // An operation that does not end, in a process that looks alive.
                if fails(1, of: 300), let member = members.firstIndex(where: { $0.id == id }) {
                    members[member].hung[ticket] = (operation, now)
                    continue
                }
                let result = effect(of: operation, on: Int(ticket.partition), at: offset)
                schedule(.ended(member: id, ticket, result), after: delay(500))
            case .ended(let id, let ticket, let result):
                take(event, of: id) {
                    $0.operations[ticket] = nil
                    return $0.state.ended(ticket, result, now: $1)
                }
            case .answered(let id, let results):
                take(event, of: id) { $0.state.answered(results, now: $1) }
            case .watermarks(let id, let error):
                take(event, of: id) { $0.state.found([:], error, now: $1) }
            case .committed(let id, let isStored):
                take(event, of: id) {
                    $0.state.committed(isStored ? .success(()) : .failure(.failure), now: $1)
                }
            }
        }
    }

    /// Whether a member still has the partition in which its operation began.
    private func isOwned(_ ticket: OperationTicket, by id: Int) -> Bool {
        guard let client = group.clients[id], let member = members.first(where: { $0.id == id }) else { return false }
        return client.hasPartitions && member.operations[ticket] == client.generation
    }

    private mutating func processCommits() {
        guard now >= group.silentUntil else { return }
        for id in commits.keys.sorted() {
            while let commit = commits[id]?.first, commit.arrival <= now {
                commits[id]?.removeFirst()
                let isStored = !fails(5) && store(commit, of: id)
                schedule(.committed(member: id, isStored: isStored), after: delay(200))
            }
        }
    }

    private mutating func store(_ commit: Commit, of id: Int) -> Bool {
        let before = group.offsets
        guard group.commit(commit.offsets, of: id, generation: commit.generation) else { return false }
        for (partition, offset) in commit.offsets {
            if offset < before[partition] ?? 0 { violations.append("an offset goes back to \(offset) at \(now)") }
            let loaded = Set(stored[Int(partition)].rows + stored[Int(partition)].refused)
            let missing = topic.log[Int(partition)].first { $0.offset < offset && !loaded.contains($0.offset) }
            if let missing { violations.append("\(missing.offset) is not loaded before \(offset) at \(now)") }
        }
        return true
    }

    /// Gives an answer to a member, unless its process has vanished; a frozen one gets it later.
    private mutating func take(
        _ event: Delayed,
        of id: Int,
        _ handle: (inout Member, Duration) -> [State.Action]
    ) {
        guard let member = members.firstIndex(where: { $0.id == id }), members[member].restartsAt == nil else { return }
        guard isRunning(member) else { return schedule(event, after: Self.step) }
        carryOut(handle(&members[member], now), member)
    }
}

extension MemberNotice {
    /// The name of the case; for a notice about a partition, of that notice's case.
    fileprivate var kind: String {
        let value: Any
        if case .partition(_, let notice) = self { value = notice } else { value = self }
        return Mirror(reflecting: value).children.first?.label ?? "\(value)"
    }
}
