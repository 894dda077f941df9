import EventPipeline
import EventValidation
import SluiceTesting
import Synchronization
import Testing
import TrackerKit

extension DispatchSimulation {
    /// Lets anything happen that can.
    mutating func happen() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: submit()
        case 30..<60: stepWorker(randomTracker())
        case 60..<85: settle(randomTracker(), healthy: false)
        case 85..<90: withdraw()
        case 90..<92: flush()
        case 92..<94: changeLimits()
        default: advance(by: .milliseconds(Int.random(in: 1...200, using: &random)))
        }
    }

    private mutating func randomTracker() -> TrackerIndex {
        TrackerIndex(Int.random(in: workers.indices, using: &random))
    }

    mutating func submit() {
        let names = ["W", "WW", "N", "O", "All", "None"].shuffled(using: &random)
        let kinds = Int.random(in: 1...3, using: &random)
        let count = Int.random(in: 0..<20, using: &random) == 0 ? 25 : Int.random(in: 1...8, using: &random)
        let events = (0..<count).map { ScriptedEvent(names[$0 % kinds], number: nextEvent + $0) }
        nextEvent += count
        let batch = EventBatch.scripted(catalog: Self.catalog, events: events)
        let number = submissions.count
        submissions.append((batch, nil))
        let routed = router.route(batch)
        let (outcomes, now) = (outcomes, now)
        let complete: @Sendable (Result<Pipeline.Acknowledgement, TrackError>) -> Void = { result in
            outcomes.results.withLock { $0[number, default: []].append(result) }
        }
        let admission = act { state, actions in
            state.submit(routed, mayWait: true, completion: complete, now: { now }, actions: &actions)
        }
        switch admission {
        case .acknowledged:
            complete(.success(.stored))
            noteAcknowledged(number)
        case .waiting(let ticket): submissions[number].ticket = ticket
        case .rejected(let error): complete(.failure(error))
        case .committing, .delivering, .overdue: Issue.record("there is no journal")
        }
    }

    mutating func withdraw() {
        guard let submission = submissions.randomElement(using: &random), let ticket = submission.ticket else { return }
        let now = now
        _ = act { state, actions in state.withdraw(number: ticket, now: { now }, actions: &actions) }
    }

    mutating func flush() {
        flushes += 1
        let number = UInt64(flushes)
        let outcomes = outcomes
        act { state, actions in
            state.flush(
                number: number,
                completion: { outcomes.endedFlushes.withLock { $0 += 1 } },
                actions: &actions
            )
        }
    }

    mutating func changeLimits() {
        let capacities = Self.limits.map { Int.random(in: 1...2 * $0.capacity, using: &random) }
        largestCapacities = zip(largestCapacities, capacities).map { max($0, $1) }
        let limits = Self.configuration(maximumEvents: .random(in: 1...10, using: &random), capacities: capacities)
        let now = now
        act { state, actions in state.changeLimits(to: limits, now: { now }, actions: &actions) }
    }

    mutating func stepWorker(_ queue: TrackerIndex) {
        guard case .awake = workers[queue] else { return }
        switch state.nextStep(of: queue, now: now) {
        case .start: startReturned(queue)
        case .deliver(let slices):
            let delivery = Delivery(slices)
            ledgers[queue].tried += delivery.map(\.number)
            workers[queue] = .delivering(delivery)
        case .deliverAgain(let delivery), .diagnose(let delivery, _, _): workers[queue] = .delivering(delivery)
        case .setTimer(let time): timers.append((time, queue))
        case .readJournal: Issue.record("there is no journal")
        case .wait: workers[queue] = .parked
        case .end:
            workers[queue] = .ended
            act { state, actions in state.workerEnded(queue, actions: &actions) }
        }
    }

    private mutating func startReturned(_ queue: TrackerIndex) {
        let fails = Int.random(in: 0..<3, using: &random) == 0
        let now = now
        _ = act { state, actions in
            state.startReturned(
                of: queue,
                error: fails ? ScriptedTracker.outage : nil,
                now: now,
                jitter: 0.5,
                actions: &actions
            )
        }
    }

    mutating func settle(_ queue: TrackerIndex, healthy: Bool) {
        guard let delivery = workers[queue].delivery else { return }
        let outcome = healthy ? .delivered : randomOutcome(count: delivery.count)
        let settlement = Settlement(of: delivery, outcome: outcome)
        let again = Set(settlement.retry.map { $0.map(\.number) } ?? [])
        for event in delivery where !again.contains(event.number) {
            #expect(ledgers[queue].settled.insert(event.number).inserted, "settled twice")
        }
        workers[queue] = .awake
        let now = now
        _ = act { state, actions in
            state.settle(settlement, of: queue, now: now, jitter: 0.5, actions: &actions)
        }
    }

    private mutating func randomOutcome(count: Int) -> DeliveryOutcome {
        let refused = (0..<count).filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
        let refusals = refused.map { DeliveryOutcome.Refusal(position: $0, reason: "no") }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return DeliveryOutcome(refusals: refusals, retry: .init(reason: ScriptedTracker.outage))
        case 1:
            let again = (0..<count).filter { !refused.contains($0) && Bool.random(using: &random) }
            return DeliveryOutcome(refusals: refusals, retry: .init(positions: again, reason: ScriptedTracker.outage))
        default: return .refused(refusals)
        }
    }

    mutating func advance(by duration: Duration) {
        now += duration
        let due = timers.filter { $0.time <= now }
        timers.removeAll { $0.time <= now }
        for timer in due {
            act { state, actions in state.timerFired(of: timer.queue, at: timer.time, actions: &actions) }
        }
    }

    /// Lets everything that must happen by itself happen, with trackers that are well again.
    mutating func settleDown() {
        for _ in 0..<10_000 {
            for queue in workers.trackerIndices {
                stepWorker(queue)
                settle(queue, healthy: true)
            }
            let isQuiet = workers.allSatisfy { $0.isParked || $0.isEnded }
            guard isQuiet else { continue }
            guard let next = timers.map(\.time).min() else { return }
            advance(by: next > now ? next - now : .zero)
        }
        Issue.record("the pipeline does not come to rest")
    }
}
