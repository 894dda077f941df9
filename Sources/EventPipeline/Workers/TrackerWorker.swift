import EventJournal
import EventModel
import EventQuarantine
import EventValidation
import TrackerKit

/// Carries out, for one tracker, what the pipeline's state decides: start, deliver, pause, stop.
struct TrackerWorker: Sendable {
    let pipeline: Pipeline
    let queue: TrackerIndex
    let tracker: any Tracker

    /// Works until the state decides that the worker ends.
    @concurrent
    func run() async {
        let stopsTracker = await withDiscardingTaskGroup { timers in
            timers.addTask { await findArrival() }
            while true {
                switch await pipeline.nextStep(ofWorker: queue) {
                case .start:
                    await start()
                case .deliver(let slices):
                    await deliver(delivery(of: slices, to: slices.nextSequence))
                case .deliverAgain(let delivery):
                    pipeline.metrics[queue].retried(delivery.count)
                    await deliver(delivery)
                case .diagnose(let delivery, let turn, let patience):
                    pipeline.metrics[queue].retried(delivery.count)
                    await adapting(delivery) { delivery in
                        await diagnose(delivery, turn: turn, patience: patience)
                    }
                case .readJournal(let from, let to):
                    await readJournal(from: from, to: to)
                case .setTimer(let time):
                    timers.addTask { await wake(at: time) }
                case .wait:
                    break
                case .end(let stopsTracker):
                    timers.cancelAll()
                    return stopsTracker
                }
            }
        }
        if stopsTracker {
            // A task of its own, because this one may have been cancelled, and `stop` must still be able to work.
            await Task { await tracker.stop() }.value
        }
        pipeline.decide { state, actions in state.workerEnded(queue, actions: &actions) }
    }

    private func wake(at time: Duration) async {
        guard (try? await pipeline.clock.sleepUntil(time)) != nil else { return }
        pipeline.decide { state, actions in state.timerFired(of: queue, at: time, actions: &actions) }
    }

    /// Finds out when the first event was accepted that is left in the journal, so that the tracker's lag is known.
    private func findArrival() async {
        guard let backlog = pipeline.journal?.backlogs[queue],
            let sequence = pipeline.decide({ state, _ in state.spilledSequence(of: queue) }),
            let time = await backlog.commitTime(ofEventsFrom: sequence)
        else { return }
        pipeline.decide { state, _ in state.noteCommit(of: sequence, at: time, in: queue) }
    }

    private func start() async {
        var failure: TrackerError?
        var resumption: Resumption?
        do throws(TrackerError) {
            let plan = pipeline.plan
            try await tracker.start(for: plan.trackerCatalogs[queue])
            if !plan.isFirst { reviseBrokenEvents(for: plan) }
            resumption = try await resume()
        } catch {
            failure = error
        }
        let now = pipeline.clock.now()
        let jitter = failure == nil ? 0 : pipeline.jitter()
        let (pause, isFirst) = pipeline.decide { state, actions in
            if let resumption { state.resume(queue, from: resumption.sequence) }
            let isFirst = !state.hasStarted(queue)
            return (
                state.startReturned(of: queue, error: failure, now: now, jitter: jitter, actions: &actions), isFirst
            )
        }
        if let failure {
            // The end of the pipeline cancels a start.
            if failure.code == .cancelled, Task.isCancelled { return }
            pipeline.log.startFailed(tracker.name, failure, pause: pause)
        } else {
            pipeline.log.started(tracker.name, isFirst: isFirst)
        }
        if resumption != nil { await findArrival() }
    }

    /// Asks a tracker that stores its own checkpoint for it, and moves the cursor there.
    private func resume() async throws(TrackerError) -> Resumption? {
        guard let journal = pipeline.journal, let tracker = tracker as? any CheckpointingTracker,
            // After a change of the plan, the tracker keeps its position.
            !pipeline.decide({ state, _ in state.isResumed(queue) })
        else { return nil }
        let answer = try await tracker.checkpoint(ofJournal: journal.store.id)
        let end = pipeline.decide { state, _ in state.resumptionEnd(of: queue, opening: journal.end) }
        let backlog = journal.backlogs[queue]
        await backlog.forgetWhatWasRead()
        let resumption = await backlog.resumption(from: answer, end: end)
        guard resumption.finding != .agrees else { return resumption }
        pipeline.log.resumes(tracker.name, resumption, end: end)
        await pipeline.loggingCursor(of: queue) { backlog throws(JournalError) in try await backlog.resume(resumption) }
        return resumption
    }

    private func delivery(of slices: [EventSlice], to sequence: UInt64) -> Delivery {
        Delivery(
            slices,
            checkpoint: pipeline.journal.map { Checkpoint(journal: $0.store.id, nextSequence: sequence) }
        )
    }

    private func deliver(_ delivery: Delivery) async {
        await adapting(delivery) { delivery in
            let now = pipeline.clock.now()
            let broken = pipeline.decide { state, _ in state.currentBrokenEvents(of: queue, now: now) }
            guard broken.isEmpty else { return await deliver(delivery, around: broken) }
            let settlement = await send(delivery)
            await report(settlement, stored: checkpoint(of: delivery, settlement))
        }
    }

    /// Runs `body` with what the plan in use leaves of a delivery; reports a delivery of which nothing is left, or which has to be
    /// retried because it could not be adapted.
    private func adapting(_ delivery: Delivery, _ body: (Delivery) async -> Void) async {
        var outcome = DeliveryOutcome.delivered
        var delivery = delivery
        do throws(TrackerError) {
            delivery = try await adapted(delivery)
            if delivery.count > 0 { return await body(delivery) }
        } catch {
            outcome = .retry(error)
        }
        await report(Settlement(of: delivery, outcome: outcome), stored: nil)
    }

    /// Hands events to the tracker, and stores in the quarantine what it refuses.
    func send(_ delivery: Delivery) async -> Settlement {
        let began = pipeline.clock.now()
        let outcome = await deliverVisible(delivery)
        var settlement = Settlement(of: delivery, outcome: outcome)
        if let reason = await quarantine(settlement.refusals, of: delivery) {
            settlement = Settlement(of: delivery, outcome: outcome.retryingRefused(for: reason))
        }
        if let obstacle = await park(settlement.parking, of: delivery) {
            settlement = Settlement(of: delivery, outcome: outcome.retryingParked(for: obstacle))
        }
        pipeline.metrics[queue].settled(settlement, after: pipeline.clock.now() - began)
        if settlement.invalidPositions > 0 {
            pipeline.log.invalidPositions(settlement.invalidPositions, tracker: tracker.name)
        }
        return settlement
    }

    /// Hands the tracker what it may see of the events.
    private func deliverVisible(_ delivery: Delivery) async -> DeliveryOutcome {
        let plan = pipeline.plan
        let catalog = plan.trackerCatalogs[queue]
        // The plan may have been replaced since the delivery was adapted, which can take many sends.
        let isOfPlan = plan.isFirst || !delivery.slices.contains(where: plan.mustCheck)
        guard catalog !== plan.catalog || !isOfPlan else { return await tracker.deliver(delivery) }
        do throws(TrackerError) {
            return await tracker.deliver(try delivery.visible(in: catalog))
        } catch {
            return .retry(error)
        }
    }

    /// The checkpoint that the tracker has stored, as it promises to, if all of a delivery was delivered.
    func checkpoint(of delivery: Delivery, _ settlement: Settlement) -> UInt64? {
        guard settlement.isDelivered, tracker is any CheckpointingTracker else { return nil }
        return delivery.checkpoint?.nextSequence
    }

    /// Reports the result of a delivery, and moves the cursor if nothing of it remains.
    func report(_ settlement: Settlement, stored checkpoint: UInt64?) async {
        let now = pipeline.clock.now()
        let jitter = settlement.retry == nil ? 0 : pipeline.jitter()
        let report = pipeline.decide { state, actions in
            state.settle(settlement, of: queue, now: now, jitter: jitter, actions: &actions)
        }
        logReport(report, settlement)
        guard report.pause == nil else { return }
        await moveCursor(to: report.settledSequence, checkpoint: checkpoint)
    }

    /// Reads the events that spilled, or are left from an earlier run, and delivers them.
    private func readJournal(from start: UInt64, to end: UInt64) async {
        guard let backlog = pipeline.journal?.backlogs[queue] else { return }
        do throws(JournalError) {
            let limits = pipeline.decide { state, _ in state.deliveryLimits(of: queue) }
            let part = try await backlog.read(from: start, to: end, as: pipeline.catalog, within: limits)
            for damage in part.damages { pipeline.log.damaged(damage, tracker: tracker.name) }
            do throws(JournalError) {
                try await pipeline.quarantine(part.rejections, undeliveredBy: tracker.name)
            } catch {
                await backlog.forgetWhatWasRead()
                throw JournalError(
                    error.code,
                    "The quarantine does not store data that is no longer an event. \(error.message)"
                )
            }
            let (reading, settled) = pipeline.decide { state, actions in
                state.journalRead(part, of: queue, actions: &actions)
            }
            pipeline.log.journalRead(for: tracker.name)
            pipeline.metrics[queue].read(reading)
            noteLeftOut(reading.leftOut)
            await moveCursor(to: settled)
            guard reading.delivers else { return }
            async let readingAhead: Void = backlog.readAhead(from: part.nextSequence, to: end)
            await deliver(self.delivery(of: part.slices, to: part.nextSequence))
            await readingAhead
        } catch {
            let now = pipeline.clock.now()
            let jitter = pipeline.jitter()
            let pause = pipeline.decide { state, _ in state.journalNotRead(of: queue, now: now, jitter: jitter) }
            pipeline.log.journalNotRead(error, tracker: tracker.name, pause: pause)
        }
    }

    private func moveCursor(to sequence: UInt64, checkpoint: UInt64? = nil) async {
        await pipeline.moveCursor(of: queue, to: sequence, checkpoint: checkpoint)
    }

    private func logReport(_ report: DispatchState.Report, _ settlement: Settlement) {
        guard let reason = settlement.retryReason else { return pipeline.log.delivered(tracker.name) }
        // Without a pause, the error has ended the pipeline, which reports it.
        guard let pause = report.pause else { return }
        pipeline.log.retries(tracker.name, reason, events: settlement.retry?.count ?? 0, pause: pause)
    }

    /// Stores what was refused, before it counts as settled.
    ///
    /// Returns why that has to be retried: with a journal, an event is settled only when it is stored.
    private func quarantine(_ refusals: [DeliveryOutcome.Refusal], of delivery: Delivery) async -> TrackerError? {
        guard !refusals.isEmpty else { return nil }
        let refusals = refusals.sorted { $0.position < $1.position }
        let events = delivery.selecting(refusals.map(\.position))
        do throws(JournalError) {
            try await pipeline.quarantine.keep(zip(events, refusals).map { ($0, $1.reason) }, refusedBy: tracker.name)
        } catch {
            guard pipeline.journal == nil else {
                return TrackerError(
                    code: .failed,
                    message: "The quarantine does not keep what the tracker refused. \(error.message)",
                    isRetryable: true
                )
            }
            pipeline.quarantine.markLost(refusals.count, error)
        }
        pipeline.log.refused(refusals.count, tracker: tracker.name)
        return nil
    }
}
