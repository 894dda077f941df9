import EventModel
import EventPipeline
import EventValidation
import TrackerKit

extension TrackerContract {
    /// A promise, and the check whether it is kept.
    struct Check {
        let promise: String
        let verify: () async throws -> Void
    }

    var checks: [Check] {
        var checks = [
            Check(promise: "a tracker that has started can stop without a delivery") {
                try await withTracker { _, _ in }
            },
            Check(promise: "an empty delivery is delivered") {
                try await withTracker { tracker, _ in try await deliver(Delivery([]), with: tracker) }
            },
            Check(promise: "one event is delivered once") {
                try await withTracker { try await deliverOnce(Delivery([EventSlice($1.batch(1))]), with: $0) }
            },
            Check(promise: "many events are delivered once each") {
                try await withTracker { try await deliverOnce(Delivery([EventSlice($1.batch(1000))]), with: $0) }
            },
            Check(promise: "a delivery of many slices is delivered completely, and nothing else is") {
                try await verifySlices()
            },
            Check(promise: "a delivery larger than usual is delivered once") {
                try await withTracker { tracker, events in
                    let batch = events.batch(traits.largestDeliveryInEvents)
                    try await deliverOnce(Delivery([EventSlice(batch)]), with: tracker)
                }
            },
            Check(promise: "a large event is delivered once") {
                try await withTracker { tracker, events in
                    let batch = events.batch(1, textLength: max(0, traits.largestEventInBytes - 512))
                    try await deliverOnce(Delivery([EventSlice(batch)]), with: tracker)
                }
            },
            Check(promise: "consecutive deliveries arrive in that order") { try await verifyOrder() },
            Check(promise: "a repeated delivery is delivered again, with the same ids") {
                try await verifyRepetition()
            },
            Check(promise: "a new tracker continues where a stopped one ended") { try await verifyRestart() },
            Check(promise: "a tracker that is started again, for a new plan, delivers the events of this plan") {
                try await verifyNewPlan()
            },
            Check(promise: "a cancelled delivery returns in time, and the events to retry can be delivered") {
                try await verifyCancellation()
            },
        ]
        if let outage {
            let promise = "a delivery cancelled during an outage returns in time, with a retry and without refusals"
            checks.append(Check(promise: promise) { try await verifyOutage(outage) })
        }
        return checks + checkpointChecks
    }

    private func verifySlices() async throws {
        try await withTracker { tracker, events in
            let first = EventSlice(events.batch(10))
            let slices = [first[2..<5], first[7..<8], events.mixedSlice(5), EventSlice(events.batch(1))]
            let delivery = Delivery(slices)
            try await deliverOnce(delivery, with: tracker)
            let wanted = Set(delivery.map(\.id))
            let others = Set(slices.flatMap { $0.batch.entries.map(\.id) }).subtracting(wanted)
            let strangers = try await delivered().filter { others.contains($0) }
            guard strangers.isEmpty else {
                throw Violated("\(strangers.count) events that are in its batches but not in its slices were delivered")
            }
        }
    }

    private func verifyOrder() async throws {
        try await withTracker { tracker, events in
            let deliveries = (0..<5).map { _ in Delivery([EventSlice(events.batch(20))]) }
            for delivery in deliveries { try await deliver(delivery, with: tracker) }
            try await expectOnce(deliveries.flatMap { $0.map(\.id) })
        }
    }

    private func verifyRepetition() async throws {
        try await withTracker { tracker, events in
            let delivery = Delivery([EventSlice(events.batch(20))])
            try await deliver(delivery, with: tracker)
            try await deliver(delivery, with: tracker)
            let ids = delivery.map(\.id)
            if traits.deduplicates { return try await expectOnce(ids) }
            try await expectAtLeastOnce(ids)
        }
    }

    private func verifyRestart() async throws {
        var ids: [EventID] = []
        for _ in 0..<2 {
            try await withTracker { tracker, events in
                let delivery = Delivery([EventSlice(events.batch(20))])
                try await deliver(delivery, with: tracker)
                ids += delivery.map(\.id)
            }
        }
        try await expectOnce(ids)
    }

    private func verifyNewPlan() async throws {
        try await withTracker { tracker, events in
            let earlier = Delivery([EventSlice(events.batch(20))])
            try await deliver(earlier, with: tracker)
            let newEvents = events.ofNewPlan
            try await tracker.start(for: newEvents.catalog)
            let later = Delivery([EventSlice(newEvents.batch(20))])
            try await deliver(later, with: tracker)
            try await expectOnce(earlier.map(\.id) + later.map(\.id))
        }
    }

    private func verifyCancellation() async throws {
        try await withTracker { tracker, events in
            let delivery = Delivery([EventSlice(events.batch(1000))])
            let outcome = try await deliverCancelled(delivery, with: tracker, after: .zero)
            try await deliverRest(of: delivery, outcome, with: tracker)
        }
    }

    private func verifyOutage(_ outage: Outage) async throws {
        try await withTracker { tracker, events in
            let delivery = Delivery([EventSlice(events.batch(100))])
            try await outage.begin()
            let outcome: DeliveryOutcome
            do {
                outcome = try await deliverCancelled(delivery, with: tracker, after: .milliseconds(300))
            } catch {
                try await outage.end()
                throw error
            }
            try await outage.end()
            guard outcome.retry != nil else { throw Violated("the outcome does not ask for a retry") }
            try await deliverRest(of: delivery, outcome, with: tracker)
        }
    }

    /// Delivers the rest of a cancelled delivery; afterwards, all events must be in the destination.
    private func deliverRest(
        of delivery: Delivery,
        _ outcome: DeliveryOutcome,
        with tracker: any Tracker
    ) async throws {
        let settlement = try settlement(of: delivery, outcome)
        if let rest = settlement.retry { try await deliver(rest, with: tracker) }
        try await expectAtLeastOnce(delivery.map(\.id))
    }
}
