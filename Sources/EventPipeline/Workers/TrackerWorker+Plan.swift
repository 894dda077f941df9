import EventJournal
import EventModel
import EventSchema
import EventValidation
import TrackerKit

/// The plan can be replaced while events that were accepted under the earlier one wait in the queue, or are being retried.
extension TrackerWorker {
    /// The events of a delivery as the plan in use has them, for a tracker that was started for this plan.
    ///
    /// Events that a tombstone covers are left out. Events that were accepted under another plan are checked again. Those that do not follow the plan are stored in the
    /// quarantine, and those that it does not send to the tracker are left out, so nothing may remain.
    ///
    /// - Throws: The reason why all of them have to be retried.
    func adapted(_ delivery: Delivery) async throws(TrackerError) -> Delivery {
        let plan = try await startedPlan()
        // First, so that the quarantine does not get them either.
        let remainder = delivery.removingForgotten(pipeline.tombstones.current)
        let adapted = try await following(plan, remainder)
        noteForgotten(delivery.count - remainder.count)
        return adapted
    }

    /// The events of a delivery as a plan has them.
    private func following(_ plan: PlanInUse, _ delivery: Delivery) async throws(TrackerError) -> Delivery {
        guard !plan.isFirst, delivery.slices.contains(where: { plan.mustCheck($0) }) else { return delivery }
        let reread = try plan.reread(delivery, for: tracker.name)
        do throws(JournalError) {
            try await pipeline.quarantine(reread.rejections, undeliveredBy: tracker.name)
        } catch {
            throw TrackerError(
                code: .failed,
                message: "The quarantine does not keep events that no longer follow the plan. \(error.message)",
                isRetryable: true
            )
        }
        let (refused, leftOut) = (reread.rejections.count, reread.leftOut)
        pipeline.decide { state, _ in state.planExcluded(refused: refused, leftOut: leftOut, of: queue) }
        pipeline.metrics[queue].planExcluded(refused: refused, leftOut: leftOut)
        noteLeftOut(leftOut)
        return Delivery(reread.slices, checkpoint: delivery.checkpoint)
    }

    /// Counts events of people whose data was erased, which the tracker does not get.
    ///
    /// They are dropped before a delivery and not when they arrive, because only old events can be covered: those that wait in a
    /// queue or in the journal, and those of a replay.
    private func noteForgotten(_ count: Int) {
        guard count > 0 else { return }
        pipeline.decide { state, _ in state.forgotten(count, of: queue) }
        pipeline.metrics[queue].forgotten(count)
        pipeline.log.forgotten(count, tracker: tracker.name)
    }

    /// Logs that the new plan does not send events to the tracker that it was to get.
    func noteLeftOut(_ count: Int) {
        if count > 0 { pipeline.log.leftOut(count, tracker: tracker.name) }
    }

    /// The plan in use, for which the tracker is started first if the plan was replaced while a delivery was being retried.
    private func startedPlan() async throws(TrackerError) -> PlanInUse {
        while true {
            let plan = pipeline.plan
            let mustStart = pipeline.decide { state, _ in state.takeStartForPlan(of: queue) }
            guard mustStart else { return plan }
            do throws(TrackerError) {
                try await tracker.start(for: plan.trackerCatalogs[queue])
            } catch {
                pipeline.decide { state, _ in state.startForPlanFailed(of: queue) }
                throw error
            }
        }
    }

    /// Parks no longer what the plan does not send to the tracker, and tries the others again at the next opportunity.
    func reviseBrokenEvents(for plan: PlanInUse) {
        let mask = plan.catalog.mask(ofTracker: tracker.name)
        let names = zip(plan.catalog.definitions, plan.catalog.trackerMasks).filter { $0.1 & mask != 0 }.map(\.0.name)
        pipeline.decide { state, _ in state.reviseBrokenEvents(of: queue, keeping: Set(names)) }
    }
}

extension PlanInUse {
    /// The events of a delivery after they were checked against the plan.
    fileprivate struct Reread {
        var slices: [EventSlice] = []
        /// The events that do not follow the plan.
        var rejections: [Rejection] = []
        /// How many events the plan does not send to the tracker.
        var leftOut = 0
    }

    /// Whether events were accepted under another plan.
    func mustCheck(_ slice: EventSlice) -> Bool {
        slice.batch.catalog !== catalog && slice.batch.catalog.planDigest != catalog.planDigest
    }

    /// Checks the events of a delivery that were accepted under another plan.
    ///
    /// - Throws: If there is not enough memory.
    fileprivate func reread(_ delivery: Delivery, for tracker: String) throws(TrackerError) -> Reread {
        let validator = EventValidator(rereading: catalog)
        let mask = catalog.mask(ofTracker: tracker)
        var reread = Reread()
        for slice in delivery.slices {
            guard mustCheck(slice) else {
                reread.slices.append(slice)
                continue
            }
            let events = slice.ownBatch
            guard let checked = try? validator.check(lines: events.lines) else {
                throw TrackerError(
                    code: .failed,
                    message: "The events could not be checked against the new plan.",
                    isRetryable: true
                )
            }
            let rejections = checked.rejections.filter { catalog.concerns($0, mask: mask) }
            let kept = checked.batch.flatMap { EventSlice($0, for: mask) }
            reread.rejections += rejections
            if let kept { reread.slices.append(kept) }
            reread.leftOut += slice.count - rejections.count - (kept?.count ?? 0)
        }
        return reread
    }
}

extension EventCatalog {
    /// Whether a rejected event concerns the tracker with a mask: its definition names the tracker, or it has no known definition.
    func concerns(_ rejection: Rejection, mask: UInt64) -> Bool {
        guard let name = rejection.name, let index = definitions.firstIndex(where: { $0.name == name }) else {
            return true
        }
        return trackerMasks[index] & mask != 0
    }
}
