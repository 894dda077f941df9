import EventModel
import EventPipeline
import TrackerKit

extension TrackerContract {
    /// Starts a new tracker, and stops it afterwards, even if a promise was broken.
    func withTracker(_ body: (any Tracker, ContractEvents) async throws -> Void) async throws {
        let tracker = try await makeTracker()
        let events = ContractEvents(trackerName: tracker.name)
        do {
            try await tracker.start(for: events.catalog)
            try await body(tracker, events)
        } catch {
            await tracker.stop()
            throw error
        }
        await tracker.stop()
    }

    /// Delivers events, all of which must be delivered at the first attempt.
    func deliver(_ delivery: Delivery, with tracker: any Tracker) async throws {
        let settlement = try settlement(of: delivery, await tracker.deliver(delivery))
        if let retry = settlement.retry {
            let reason = settlement.retryReason?.description ?? "no reason"
            throw Violated("\(retry.count) of \(delivery.count) events are to be tried again: \(reason)")
        }
    }

    /// Delivers events, each of which must be in the destination once.
    func deliverOnce(_ delivery: Delivery, with tracker: any Tracker) async throws {
        try await deliver(delivery, with: tracker)
        try await expectOnce(delivery.map(\.id))
    }

    /// Checks that an outcome is valid for its delivery and refuses none of these valid events.
    func settlement(of delivery: Delivery, _ outcome: DeliveryOutcome) throws -> Settlement {
        let settlement = Settlement(of: delivery, outcome: outcome)
        guard settlement.invalidPositions == 0 else {
            throw Violated("\(settlement.invalidPositions) positions are outside the delivery or named twice")
        }
        if let refusal = settlement.refusals.first {
            let count = settlement.refusals.count
            throw Violated(
                "\(count) of \(delivery.count) good events were refused, the first because: \(refusal.reason)"
            )
        }
        if let positions = outcome.retry?.positions, positions != positions.sorted() {
            throw Violated("the positions to be retried are not ascending")
        }
        return settlement
    }

    /// Delivers, cancels after a while, and returns the outcome, which must come in time.
    func deliverCancelled(
        _ delivery: Delivery,
        with tracker: any Tracker,
        after pause: Duration
    ) async throws -> DeliveryOutcome {
        let outcome = Watched<DeliveryOutcome?>(nil)
        // Not a child task, because one that ignores its cancellation would delay the report about it.
        let task = Task {
            let returned = await tracker.deliver(delivery)
            outcome.update { $0 = returned }
        }
        if pause > .zero { try await Task.sleep(for: pause) }
        task.cancel()
        await withTaskGroup { group in
            group.addTask { await outcome.wait { $0 != nil } }
            group.addTask { try? await Task.sleep(for: traits.cancellationLimit) }
            await group.next()
            group.cancelAll()
        }
        guard let outcome = outcome.value else {
            throw Violated("it had not returned \(traits.cancellationLimit) after its cancellation")
        }
        return outcome
    }

    /// Checks that every id is in the destination once, in this order if the order is promised.
    func expectOnce(_ ids: [EventID]) async throws {
        let wanted = Set(ids)
        let found = try await delivered().filter { wanted.contains($0) }
        let missing = wanted.subtracting(found)
        guard missing.isEmpty else { throw Violated("\(missing.count) of \(ids.count) events are not there") }
        guard found.count == ids.count else {
            throw Violated("\(ids.count) events are there \(found.count) times")
        }
        guard !traits.keepsOrder || found == ids else { throw Violated("the events arrived in another order") }
    }

    /// Checks that every id is in the destination.
    func expectAtLeastOnce(_ ids: [EventID]) async throws {
        let missing = Set(ids).subtracting(try await delivered())
        guard missing.isEmpty else { throw Violated("\(missing.count) of \(ids.count) events are not there") }
    }
}
