import Loader
import SluiceKafka
import TestCases
import Testing
import TrackerKit

@Suite("A member of a consumer group")
struct MemberStateTests {
    private typealias Record = LoaderSimulation.Record
    private typealias State = MemberState<Record>

    @Test(
        "whatever members freeze, vanish, stop and start, and whatever the coordinator answers, valid records are loaded once and in order",
        arguments: SimulationSeeds.upTo(2_000)
    )
    func simulation(seed: UInt64) {
        var simulation = GroupSimulation(seed: seed, storesPositions: true)
        simulation.run()
        #expect(simulation.violations.isEmpty)
        for (log, stored) in zip(simulation.topic.log, simulation.stored) {
            #expect(stored.rows == log.filter { !$0.isPoison }.map(\.offset))
            #expect(stored.refused == log.filter(\.isPoison).map(\.offset))
        }
    }

    @Test(
        "a tracker without positions gets every record at least once, and not those before its group's offset",
        arguments: SimulationSeeds.upTo(2_000)
    )
    func offsetsAsPositions(seed: UInt64) {
        var simulation = GroupSimulation(seed: seed, storesPositions: false)
        simulation.run()
        #expect(simulation.violations.isEmpty)
        for (log, stored) in zip(simulation.topic.log, simulation.stored) {
            #expect(Set(stored.rows) == Set(log.filter { !$0.isPoison }.map(\.offset)))
            #expect(Set(stored.refused) == Set(log.filter(\.isPoison).map(\.offset)))
        }
    }

    @Test(
        "every record is loaded once while members only join and stop, and no operation outlives its assignment",
        arguments: SimulationSeeds.upTo(50),
        [false, true]
    )
    func orderlyMembers(seed: UInt64, storesPositions: Bool) {
        var simulation = GroupSimulation(seed: seed, storesPositions: storesPositions, faults: .none)
        simulation.run()
        #expect(simulation.violations.isEmpty)
        for (log, stored) in zip(simulation.topic.log, simulation.stored) {
            #expect(stored.rows == log.filter { !$0.isPoison }.map(\.offset))
            #expect(stored.refused == log.filter(\.isPoison).map(\.offset))
        }
    }

    @Test("the simulations reach what they are for")
    func reached() {
        var missing: Set = [
            "revoked", "lost", "gaveBack", "groupIsStalled", "groupFailed", "leaves", "readsAgain", "gaveUpBatch",
            "requestFailed", "commitFailed", "superseded", "readingFailed", "skipped",
        ]
        for seed in 0..<200 as Range<UInt64> where !missing.isEmpty {
            var simulation = GroupSimulation(seed: seed, storesPositions: true)
            simulation.run()
            missing.subtract(simulation.events)
        }
        #expect(missing.isEmpty)
    }

    @Test("a group that does not answer a join is reported after a minute")
    func stalledGroup() {
        var state = joined()
        #expect(state.membership(now: .seconds(59)) == .absent)
        #expect(state.proceed(hasLostAssignment: false, now: .seconds(59)).notices.isEmpty)
        #expect(state.membership(now: .seconds(60)) == .waiting(.seconds(60)))
        #expect(state.proceed(hasLostAssignment: false, now: .seconds(60)).notices == ["stalled for 60"])
        _ = state.handle(.assigned([0]), now: .seconds(61))
        #expect(state.membership(now: .seconds(61)) == .joined)
        // A rebalance is not an absence, unless it does not end.
        _ = state.handle(.revoked, now: .seconds(70))
        _ = state.proceed(hasLostAssignment: false, now: .seconds(70))
        #expect(state.phase == .joining(since: .seconds(70)))
        #expect(state.membership(now: .seconds(129)) == .joined)
        #expect(state.membership(now: .seconds(130)) == .waiting(.seconds(60)))
    }

    @Test("a member that has left its group answers revocations, and stays away", arguments: [false, true])
    func away(isLost: Bool) {
        var state = joined()
        _ = state.handle(.assigned([0]), now: .seconds(1))
        _ = state.refused(.refusal, now: .seconds(1))
        #expect(state.phase == .away(until: .seconds(11)))
        #expect(state.handle(isLost ? .lost : .revoked, now: .seconds(2)).contains { $0.isUnassign })
        #expect(state.phase == .away(until: .seconds(11)))
        #expect(state.handle(.assigned([1]), now: .seconds(3)).contains { $0.isUnassign })
        #expect(state.partitions.isEmpty)
        _ = state.proceed(hasLostAssignment: false, now: .seconds(11))
        #expect(state.phase == .joining(since: .seconds(11)))
    }

    @Test("partitions are not taken while an operation of an earlier assignment is under way, so that others load them")
    func operationOfEarlierAssignment() throws {
        var state = joined()
        _ = state.handle(.assigned([0]), now: .seconds(1))
        let asked = try #require(state.proceed(hasLostAssignment: false, now: .seconds(1)).operations.first)
        let start = PartitionStart(offset: 0, watermarks: .init(low: 0, high: 5), isStored: false)
        _ = state.answered([(asked, .located(.success(start)))], now: .seconds(1))
        let claim = try #require(state.proceed(hasLostAssignment: false, now: .seconds(1)).operations.first)
        #expect(state.handle(.lost, now: .seconds(2)).contains { $0.isUnassign })
        let actions = state.handle(.assigned([0]), now: .seconds(3))
        #expect(actions.contains { $0.isUnassign })
        #expect(!actions.contains { if case .assign = $0 { true } else { false } })
        #expect(state.phase == .away(until: .seconds(13)))
        // It stays away until the operation has ended.
        _ = state.proceed(hasLostAssignment: false, now: .seconds(20))
        #expect(state.phase == .away(until: .seconds(13)))
        _ = state.ended(claim, .claimed(.success(nil)), now: .seconds(21))
        _ = state.proceed(hasLostAssignment: false, now: .seconds(21))
        #expect(state.phase == .joining(since: .seconds(21)))
    }

    @Test("a member without operations ends at once when it is asked to")
    func stop() {
        var state = joined()
        _ = state.handle(.assigned([0, 1]), now: .seconds(1))
        _ = state.stop(now: .seconds(2))
        _ = state.proceed(hasLostAssignment: false, now: .seconds(2))
        #expect(state.hasEnded)
        #expect(state.failure == nil)
    }

    @Test("a member that cannot join its group at all ends and says why")
    func refused() {
        var state = joined()
        _ = state.refused(.refusal, now: .seconds(1))
        #expect(state.hasEnded)
        #expect(state.failure?.code == .invalidSettings)
    }

    private func joined() -> State {
        var state = State(
            LoaderConfiguration(name: "loader", brokers: "", topic: "t", owner: "o"),
            storesPositions: true,
            lane: { _ in 0 }
        )
        #expect(state.join(cluster: "c", now: .zero).count == 1)
        return state
    }
}

extension MemberState.Action {
    fileprivate var isUnassign: Bool { if case .unassign = self { true } else { false } }
}

extension [MemberState<LoaderSimulation.Record>.Action] {
    /// The operations that begin.
    fileprivate var operations: [OperationTicket] {
        flatMap { action -> [OperationTicket] in
            switch action {
            case .start(let ticket, _, _, _): [ticket]
            case .ask(let operations): operations.map(\.0)
            default: []
            }
        }
    }

    /// What is logged about the group.
    fileprivate var notices: [String] {
        compactMap { action in
            if case .log(.groupIsStalled(let time)) = action { "stalled for \(time.components.seconds)" } else { nil }
        }
    }
}

extension TrackerError {
    fileprivate static let refusal = TrackerError(code: .invalidSettings, message: "no such topic", isRetryable: false)
}
