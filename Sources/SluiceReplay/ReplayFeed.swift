import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import ServiceLifecycle

/// The service that reads and submits events; it ends when all of them are delivered, or at a shutdown.
package actor ReplayFeed: Service {
    private let replay: Replay
    /// `nil` if there is no limit.
    private var rate: ReplayRate<ContinuousClock>?
    private let reader: ReplayReader
    private var progress: (any ReplayProgress)?
    private let maximumUnstoredRecords: Int
    /// The result so far.
    package private(set) var report = ReplayReport()
    /// The quarantined records that the pipeline has accepted and that are not stored as sent yet.
    private var accepted: [SentRecord] = []
    /// `nil` if no records are sent.
    private let sent: (any SentRecordLog)?
    /// Whether the pipeline accepts no more events, because a tracker cannot be delivered to.
    private var isClosed = false

    /// Creates the service; the pipeline has to run beside it.
    ///
    /// After `maximumUnstoredRecords` quarantined records are sent, they are stored as sent. After a crash, the next replay sends
    /// at most this many again, with the same ids.
    ///
    /// - Throws: `JournalError` if another process replays the same quarantine, and `TrackerError` if the reader's thread cannot
    ///   be created.
    package init(_ replay: Replay, progress: (any ReplayProgress)? = nil, maximumUnstoredRecords: Int = 10_000) throws {
        self.replay = replay
        self.progress = progress
        self.maximumUnstoredRecords = maximumUnstoredRecords
        // Opened first, because it locks out other replays of the same quarantine.
        let sendsRecords = replay.inputs.contains(.quarantine) && !replay.isDryRun
        sent = sendsRecords ? try replay.quarantine.sentRecordLog() : nil
        rate = replay.rate.map { ReplayRate(eventsPerSecond: $0, clock: ContinuousClock()) }
        let selection = ReplaySelection(
            catalog: replay.pipeline.catalog,
            // With a rate, a part takes a tenth of a second.
            maximumLines: replay.rate.map { max(1, $0 / 10) } ?? .max,
            times: replay.filter.times,
            quarantine: replay.quarantine,
            quarantineFilter: replay.quarantineFilter
        )
        reader = try ReplayReader(replay.inputs, selection)
    }

    /// Reads and submits, until all events are delivered or the shutdown begins.
    package func run() async {
        await cancelWhenGracefulShutdown { await self.feed() }
    }

    private func feed() async {
        await withTaskCancellationHandler {
            while !isClosed, let (input, part) = await reader.next(), !Task.isCancelled {
                await send(part, from: input)
                await showProgress()
                await keepToRate(part.checked.count)
                if accepted.count >= maximumUnstoredRecords { await storeSent() }
            }
            await storeSent()
        } onCancel: {
            reader.stop()
        }
        progress?.clear()
        report.notes += await reader.notes
        report.failures += await reader.failures
        if Task.isCancelled, !isClosed {
            report.failures.append("stopped before everything was read and delivered")
        }
    }

    /// Counts the events of a part, submits those that pass the filter, and quarantines rejected ones.
    private func send(_ part: ReplayPart, from input: ReplayInput) async {
        let filter = part.recordKey == nil ? replay.filter : ReplayFilter()
        let rejections = part.checked.rejections.filter { !filter.leavesOut($0) }
        let selected = part.checked.batch.flatMap { filter.apply(to: $0) }.flatMap { batch in
            part.isSent(batch, to: replay.trackers, configured: replay.configuredTrackers) ? batch : nil
        }
        report.read += part.checked.count
        report.skipped += part.checked.count - rejections.count - (selected?.count ?? 0)
        report.rejected += rejections.count
        for rejection in rejections {
            for code in Set(rejection.violations.map(\.code)) { report.rejectedByCode[code.rawValue, default: 0] += 1 }
        }
        if !part.isQuarantined {
            // What the quarantine stores gets a new date.
            let tombstones = replay.pipeline.tombstones.current
            let kept = rejections.filter { !tombstones.covers($0) }
            report.rejectedForgotten += rejections.count - kept.count
            replay.pipeline.quarantine(kept, source: input.description)
            // Unlike an event loop, a replay may wait for the disk, so that no rejection is dropped for lack of memory.
            await replay.rejectedEvents.drain()
        }
        guard let selected else { return }
        do {
            try await replay.pipeline.submit(selected)
            report.accepted += selected.count
            if let key = part.recordKey, let entry = selected.entries.first {
                accepted.append(SentRecord(key: key, event: EventKey(id: entry.id, time: entry.time)))
            }
        } catch {
            isClosed = error == .closed
            report.failures.append(
                "\(input): \(selected.count.of("event")) read, but not accepted, because the pipeline has stopped"
            )
        }
    }

    /// Waits until all events are delivered, and stores which quarantined records were sent.
    ///
    /// If a shutdown ends the waiting early, call this again after the pipeline has ended.
    package func storeSent() async {
        await replay.pipeline.flush()
        guard !accepted.isEmpty, let sent else { return }
        let isDelivered = replay.pipeline.statistics.trackers.allSatisfy { $0.pendingEvents == 0 && $0.dropped == 0 }
        let areKept = replay.rejectedEvents.isDiscarding || replay.rejectedEvents.statistics.lost == 0
        do {
            accepted = try await sent.store(accepted, areSettled: isDelivered && areKept)
        } catch {
            // A shutdown has interrupted it, and it is called again after that.
            guard !Task.isCancelled else { return }
            report.failures.append(
                "\(accepted.count.of("event")) sent, but this could not be stored, so the next replay sends them again: \(error)"
            )
            accepted = []
        }
    }

    private func showProgress() async {
        guard progress != nil else { return }
        let bytes = await reader.bytesRead
        progress?.show(events: report.read, bytes: bytes)
    }

    private func keepToRate(_ count: Int) async {
        guard var rate else { return }
        await rate.wait(for: count)
        self.rate = rate
    }
}
