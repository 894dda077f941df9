import EventPipeline
import EventValidation
import SluiceTesting
import Synchronization
import TestCases
import Testing

@Suite("The pipeline's decisions, whatever happens")
struct DispatchSimulationTests {
    @Test("every accepted event is settled, dropped and counted, or pending", arguments: SimulationSeeds.upTo(120))
    func randomRuns(seed: UInt64) {
        var simulation = DispatchSimulation(seed: seed)
        for _ in 0..<80 {
            for _ in 0..<5 { simulation.happen() }
            simulation.expectPromises()
        }
        simulation.settleDown()
        simulation.expectPromises()
        simulation.expectNothingLeft()
    }

    @Test("shutdown rejects all that wait, and drains all that was accepted", arguments: SimulationSeeds.upTo(60))
    func shutdown(seed: UInt64) {
        var simulation = DispatchSimulation(seed: seed &+ 1_000_000)
        for _ in 0..<Int.random(in: 0..<300, using: &simulation.random) { simulation.happen() }
        simulation.shutDown()
        #expect(simulation.state.waiting.isEmpty)
        for _ in 0..<20 { simulation.happen() }
        simulation.settleDown()
        simulation.expectPromises()
        simulation.expectNothingLeft()
        #expect(simulation.workers.allSatisfy { $0.isEnded })
        #expect(simulation.supervisorStep() == .finish(leftBehind: []))
    }

    @Test("after the deadline every worker ends as soon as its delivery returns", arguments: SimulationSeeds.upTo(60))
    func deadline(seed: UInt64) {
        var simulation = DispatchSimulation(seed: seed &+ 2_000_000)
        for _ in 0..<Int.random(in: 0..<300, using: &simulation.random) { simulation.happen() }
        simulation.shutDown()
        simulation.now += .seconds(5)
        if case .cancel(let queues, isDeadline: true) = simulation.supervisorStep() {
            for queue in queues where simulation.workers[queue].isParked { simulation.workers[queue] = .awake }
        }
        for queue in simulation.workers.trackerIndices {
            // A step may be a start that returns at once; then comes the end.
            for _ in 0..<3 {
                simulation.settle(queue, healthy: false)
                simulation.stepWorker(queue)
            }
        }
        simulation.expectPromises()
        #expect(simulation.workers.allSatisfy { $0.isEnded })
        #expect(simulation.supervisorStep() == .finish(leftBehind: []))
        #expect(simulation.outcomes.endedFlushes.withLock { $0 } == simulation.flushes)
    }
}

extension DispatchSimulation {
    mutating func shutDown() {
        let now = now
        act { state, actions in state.shutDown(now: now, actions: &actions) }
    }

    mutating func supervisorStep() -> SupervisorStep {
        let now = now
        return act { state, actions in state.nextSupervisorStep(now: now, actions: &actions) }
    }

    /// `#expect` without its cost: a run looks at millions of conditions.
    private func expect(_ condition: Bool, _ comment: @autoclosure () -> Comment? = nil, line: Int = #line) {
        if condition { return }
        let location = SourceLocation(fileID: #fileID, filePath: #filePath, line: line, column: 1)
        Issue.record(comment(), sourceLocation: location)
    }

    /// What holds at any moment.
    func expectPromises() {
        for queue in workers.trackerIndices { expectPromises(ofQueue: queue) }
        for (ticket, results) in outcomes.results.withLock({ $0 }) {
            expect(results.count == 1, "submission \(ticket) was answered \(results.count) times")
        }
        expect(state.statistics(now: now).accepted == acknowledged.reduce(0) { $0 + submissions[$1].batch.count })
        if let first = state.waiting.first {
            let isHeldUp = first.batch.queues.contains { queue in
                guard Self.limits[queue].policy == .wait, let slice = first.batch.slice(of: queue) else { return false }
                return !state.trackers[queue].queue.hasRoom(for: slice)
            }
            expect(isHeldUp, "the oldest submission waits although there is room")
        }
    }

    private func expectPromises(ofQueue queue: TrackerIndex) {
        let (ledger, statistics) = (ledgers[queue], state.statistics(now: now).trackers[queue])
        expect(statistics.enqueued == ledger.meant.count)
        expect(statistics.delivered + statistics.refused == ledger.settled.count)
        expect(statistics.dropped == ledger.dropped)
        expect(statistics.pendingEvents >= 0)
        let (capacity, policy) = (largestCapacities[queue], Self.limits[queue].policy)
        expect(state.trackers[queue].queue.occupiedEvents <= max(capacity, ledger.largestSlice))
        if policy == .wait {
            expect(ledger.tried.elementsEqual(ledger.meant.prefix(ledger.tried.count)), "out of order")
            expect(statistics.dropped == 0)
        } else {
            var meant = ledger.meant.makeIterator()
            let isInOrder = ledger.tried.allSatisfy { event in
                while let next = meant.next() { if next == event { return true } }
                return false
            }
            expect(isInOrder, "out of order")
        }
    }

    /// What holds when everything has come to rest with healthy trackers.
    func expectNothingLeft() {
        expect(state.waiting.isEmpty)
        for (ledger, statistics) in zip(ledgers, state.statistics(now: now).trackers) {
            expect(statistics.pendingEvents == 0)
            expect(statistics.pendingBytes == 0)
            expect(ledger.settled == Set(ledger.tried))
            expect(ledger.settled.count + ledger.dropped == ledger.meant.count)
        }
        expect(outcomes.results.withLock { $0.count } == submissions.count)
        expect(outcomes.endedFlushes.withLock { $0 } == flushes)
    }
}
