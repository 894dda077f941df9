import EventJournal
import EventModel
import EventPipeline
import EventValidation
import TrackerKit

extension TrackerContract {
    /// The additional promises of a `CheckpointingTracker`; other trackers fulfil them, because they store no checkpoints.
    var checkpointChecks: [Check] {
        var checks = [
            Check(promise: "a checkpoint is stored with the delivered events, and a new tracker can read it") {
                try await verifyStored()
            },
            Check(promise: "a delivery replaces the checkpoint, and a delivery without one leaves it unchanged") {
                try await verifyReplaced()
            },
            Check(promise: "the checkpoints of two journals are kept apart") { try await verifyApart() },
            Check(promise: "a tracker replaces only the checkpoint that it read or stored last") {
                try await verifyCompared()
            },
            Check(promise: "a tracker that is started again, for a new plan, still knows the stored checkpoint") {
                try await verifyNewPlanCheckpoint()
            },
        ]
        if let outage {
            checks.append(
                Check(promise: "after an outage a checkpoint is stored only if all its events are") {
                    try await verifyTogether(outage)
                }
            )
        }
        return checks
    }

    private func withCheckpointing(
        _ body: (any CheckpointingTracker, ContractEvents) async throws -> Void
    ) async throws {
        try await withTracker { tracker, events in
            guard let tracker = tracker as? any CheckpointingTracker else { return }
            try await body(tracker, events)
        }
    }

    private func deliver(
        _ events: ContractEvents,
        to sequence: UInt64,
        of journal: JournalID,
        with tracker: any Tracker
    ) async throws {
        let checkpoint = Checkpoint(journal: journal, nextSequence: sequence)
        try await deliver(Delivery([EventSlice(events.batch(5))], checkpoint: checkpoint), with: tracker)
    }

    private func expect(
        _ sequence: UInt64?,
        of journal: JournalID,
        from tracker: any CheckpointingTracker
    ) async throws {
        let found = try await tracker.checkpoint(ofJournal: journal)
        guard found != sequence else { return }
        func words(_ sequence: UInt64?) -> String { sequence.map(String.init) ?? "none" }
        throw Violated("the stored checkpoint is \(words(found)), not \(words(sequence))")
    }

    private func verifyStored() async throws {
        let journal = JournalID()
        try await withCheckpointing { tracker, events in
            try await expect(nil, of: journal, from: tracker)
            try await deliver(events, to: 5, of: journal, with: tracker)
            try await expect(5, of: journal, from: tracker)
        }
        try await withCheckpointing { tracker, _ in try await expect(5, of: journal, from: tracker) }
    }

    private func verifyReplaced() async throws {
        let journal = JournalID()
        try await withCheckpointing { tracker, events in
            try await expect(nil, of: journal, from: tracker)
            for sequence in [7, UInt64.max >> 1, 6] {
                try await deliver(events, to: sequence, of: journal, with: tracker)
                try await expect(sequence, of: journal, from: tracker)
            }
            try await deliver(Delivery([EventSlice(events.batch(5))]), with: tracker)
            try await expect(6, of: journal, from: tracker)
        }
    }

    private func verifyApart() async throws {
        let journals = [JournalID(), JournalID()]
        try await withCheckpointing { tracker, events in
            for (journal, sequence) in zip(journals, [11, 22] as [UInt64]) {
                try await expect(nil, of: journal, from: tracker)
                try await deliver(events, to: sequence, of: journal, with: tracker)
            }
            try await expect(11, of: journals[0], from: tracker)
            try await expect(22, of: journals[1], from: tracker)
        }
    }

    private func verifyCompared() async throws {
        let journal = JournalID()
        try await withCheckpointing { first, events in
            try await expect(nil, of: journal, from: first)
            try await withCheckpointing { second, _ in
                try await expect(nil, of: journal, from: second)
                try await deliver(events, to: 5, of: journal, with: second)
                // Twice, because a superseded tracker must stay superseded until it is asked for its checkpoint.
                for _ in 0..<2 { try await expectSuperseded(events, of: journal, by: first) }
                try await expect(5, of: journal, from: first)
                try await deliver(events, to: 4, of: journal, with: first)
                try await expectSuperseded(events, of: journal, by: second)
                try await expect(4, of: journal, from: second)
            }
        }
    }

    private func verifyNewPlanCheckpoint() async throws {
        let journal = JournalID()
        try await withCheckpointing { tracker, events in
            try await expect(nil, of: journal, from: tracker)
            try await deliver(events, to: 5, of: journal, with: tracker)
            let newEvents = events.ofNewPlan
            try await tracker.start(for: newEvents.catalog)
            // Without being asked for it.
            try await deliver(newEvents, to: 10, of: journal, with: tracker)
            try await expect(10, of: journal, from: tracker)
        }
    }

    private func expectSuperseded(
        _ events: ContractEvents,
        of journal: JournalID,
        by tracker: any CheckpointingTracker
    ) async throws {
        let delivery = Delivery(
            [EventSlice(events.batch(5))],
            checkpoint: Checkpoint(journal: journal, nextSequence: 50)
        )
        try await expectSuperseded(delivery, by: tracker)
        // A part of the batch, which has the journal but no checkpoint, is not delivered either.
        try await expectSuperseded(delivery.selecting(0..<3), by: tracker)
    }

    private func expectSuperseded(_ delivery: Delivery, by tracker: any CheckpointingTracker) async throws {
        let settlement = try settlement(of: delivery, await tracker.deliver(delivery))
        guard settlement.retryReason?.code == .superseded else {
            throw Violated(
                "a tracker that has not read it answers \(settlement.retryReason?.description ?? "delivered")"
            )
        }
        guard settlement.retry?.count == delivery.count else {
            throw Violated("a tracker that has not read it still delivers \(settlement.delivered) events")
        }
        let strangers = Set(delivery.map(\.id)).intersection(try await delivered())
        guard strangers.isEmpty else {
            throw Violated("\(strangers.count) events of a tracker that has not read it arrived")
        }
    }

    private func verifyTogether(_ outage: Outage) async throws {
        let checkpoint = Checkpoint(journal: JournalID(), nextSequence: 100)
        try await withCheckpointing { tracker, events in
            let delivery = Delivery([EventSlice(events.batch(100))], checkpoint: checkpoint)
            try await expect(nil, of: checkpoint.journal, from: tracker)
            try await outage.begin()
            do {
                _ = try await deliverCancelled(delivery, with: tracker, after: .milliseconds(300))
            } catch {
                try await outage.end()
                throw error
            }
            try await outage.end()
            let found = try await tracker.checkpoint(ofJournal: checkpoint.journal)
            if found != nil { try await expectAtLeastOnce(delivery.map(\.id)) }
        }
    }
}
