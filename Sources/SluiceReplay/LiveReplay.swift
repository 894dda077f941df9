import EventJournal
import EventModel
package import EventPipeline
import EventQuarantine
import EventValidation
package import Operations
import Synchronization
package import TrackerKit

/// Sends events of the quarantine again while `serve` runs, through its pipeline.
///
/// It reads what `sluice replay quarantine` reads, and stores which records were sent in the same place, so neither sends what the
/// other has sent. A record counts as sent once its event is in the journal of the pipeline.
package actor LiveReplay: QuarantineReplaying {
    /// How long a call reads and checks.
    private static let limit = Duration.seconds(5)
    /// How long a call waits for the pipeline to accept events.
    private static let acceptanceLimit = Duration.seconds(10)
    /// The maximum number of records that are submitted together, and of their bytes unless one alone has more.
    private static let maximumRecords = 256
    private static let maximumBytes = 4 << 20

    /// The records of a selection, from the first one that no call has read yet.
    private struct Reading {
        let selection: QuarantineReplaySelection
        /// The plan that the records are checked against.
        let catalog: EventCatalog
        let source: QuarantineSource
    }

    /// The time at which a call stops reading.
    private final class Deadline {
        var time: Duration = .zero
    }

    private let thread: BlockingThread
    private let pipeline: Pipeline
    private let folder: String
    /// The names of the configured trackers, in lower case.
    private let trackers: Set<String>
    private let clock: RelativeClock
    private let deadline = Deadline()
    private var reading: Reading?
    /// Events of an earlier call about which the pipeline has not decided yet.
    private var undecided: ReplaySubmission?
    private var isBusy = false

    /// The executor of the thread that reads the quarantine.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Reads the quarantine in a folder, for a pipeline with a journal.
    ///
    /// - Throws: if the thread cannot be created.
    package init(
        pipeline: Pipeline,
        folder: String,
        clock: some Clock<Duration> = ContinuousClock()
    ) throws(TrackerError) {
        thread = try BlockingThread()
        self.pipeline = pipeline
        self.folder = folder
        trackers = Set(pipeline.statistics.trackers.map { $0.name.lowercased() })
        self.clock = RelativeClock(clock)
    }

    /// Sends the selected records, as `QuarantineReplaying` promises.
    package func replay(
        _ selection: QuarantineReplaySelection
    ) async throws(QuarantineReplayFailure) -> QuarantineReplayReport {
        // An actor takes further calls while this one waits for the pipeline.
        guard !isBusy else { throw QuarantineReplayFailure(.busy, "Quarantined events are being sent again already.") }
        isBusy = true
        defer { isBusy = false }
        var report = QuarantineReplayReport()
        do {
            try await send(selection, &report)
        } catch let error as QuarantineReplayFailure {
            reading = nil
            throw error
        } catch {
            // The next call reads everything that was not sent.
            reading = nil
            let isLocked = (error as? JournalError)?.code == .locked
            let sentence = isLocked ? "Another process replays the quarantine now." : "\(error)"
            throw QuarantineReplayFailure(isLocked ? .busy : .unavailable, sentence, sent: report.sent)
        }
        if report.isComplete { reading = nil }
        return report
    }

    private func send(_ selection: QuarantineReplaySelection, _ report: inout QuarantineReplayReport) async throws {
        // Locked only now, so that commands can replay as well.
        var sent = try SentRecords(ofQuarantine: folder, changes: true)
        if let undecided { await wait(for: undecided) }
        try settle(&sent, &report)
        let source = try source(for: selection)
        deadline.time = clock.now() + Self.limit
        while !report.isComplete, clock.now() < deadline.time {
            let records = try nextRecords(of: source, notIn: sent.keys, &report)
            guard !records.isEmpty else { continue }
            let submission = ReplaySubmission(records, to: pipeline)
            await wait(for: submission)
            submission.withdraw()
            undecided = submission
            try settle(&sent, &report)
            if let error = submission.error {
                throw QuarantineReplayFailure(
                    .unavailable,
                    "The pipeline did not accept all events, and the others stay in the quarantine: \(error)",
                    sent: report.sent
                )
            }
        }
    }

    /// Notes which events of the last submission the pipeline has accepted.
    ///
    /// - Throws: `busy` if it has not decided about all of them, because the journal does not answer.
    private func settle(_ sent: inout SentRecords, _ report: inout QuarantineReplayReport) throws {
        guard let submission = undecided else { return }
        let accepted = submission.accepted
        try sent.add(accepted)
        submission.noted(accepted.count)
        report.sent += accepted.count
        guard submission.isUndecided else { return undecided = nil }
        throw QuarantineReplayFailure(
            .busy,
            "The journal has not answered yet whether it stored the last events; try again when it has.",
            sent: report.sent
        )
    }

    /// The source that an earlier call has not read to its end, or a new one.
    private func source(for selection: QuarantineReplaySelection) throws -> QuarantineSource {
        guard selection.code != VerdictCode.forbiddenEvent.rawValue else {
            throw QuarantineReplayFailure(
                .invalidSelection,
                "What a key may not send is valid otherwise, so only 'sluice replay quarantine' sends it again."
            )
        }
        let catalog = pipeline.catalog
        // Under a new plan, records may be valid that were not before.
        if let reading, reading.selection == selection, reading.catalog === catalog { return reading.source }
        let filter: QuarantineFilter
        do throws(SelectionError) {
            filter = try QuarantineFilter(
                codes: selection.code.map { [$0] } ?? [],
                events: selection.event.map { [$0] } ?? []
            )
        } catch {
            throw QuarantineReplayFailure(.invalidSelection, error.message)
        }
        let source = try QuarantineSource(
            ReplaySelection(
                catalog: catalog,
                maximumLines: .max,
                times: nil,
                quarantine: FolderQuarantine(path: folder),
                quarantineFilter: filter
            ),
            folder: folder,
            isStopped: { [deadline, clock] in clock.now() >= deadline.time }
        )
        reading = Reading(selection: selection, catalog: catalog, source: source)
        return source
    }

    /// Reads records until there are enough to submit, the time is over, or all are read.
    private func nextRecords(
        of source: QuarantineSource,
        notIn sent: Set<String>,
        _ report: inout QuarantineReplayReport
    ) throws -> [ReplaySubmission.Record] {
        var records: [ReplaySubmission.Record] = []
        var bytes = 0
        while records.count < Self.maximumRecords, bytes < Self.maximumBytes {
            let part = try source.next()
            report.failures += source.takeFailures()
            guard let part else {
                report.isComplete = clock.now() < deadline.time
                break
            }
            // Another process may have sent it since the source was opened.
            guard case .quarantined(let key)? = part.recordKey, !sent.contains(key) else { continue }
            guard let batch = part.checked.batch else {
                report.stillInvalid += 1
                continue
            }
            guard part.isSent(batch, to: trackers, configured: trackers) else { continue }
            // In the journal, the event would get a new date.
            guard !pipeline.tombstones.current.covers(batch.line(at: 0)) else {
                report.forgotten += 1
                continue
            }
            records.append(.init(key: key, batch: batch))
            bytes += batch.byteCount
        }
        return records
    }

    /// Waits until the pipeline has decided about all events, but not for ever.
    private func wait(for submission: ReplaySubmission) async {
        await withDiscardingTaskGroup { group in
            group.addTask { [clock] in
                guard (try? await clock.sleepUntil(clock.now() + Self.acceptanceLimit)) != nil else { return }
                submission.endWait()
            }
            await submission.wait()
            group.cancelAll()
        }
    }
}

/// Events that were submitted together and wait for the pipeline's decision.
private final class ReplaySubmission: Sendable {
    struct Record {
        let key: String
        let batch: EventBatch
    }

    private struct State {
        var undecided: Int
        var accepted: [String] = []
        var error: TrackError?
        var tickets: [Pipeline.Ticket] = []
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let pipeline: Pipeline
    private let state: Mutex<State>

    init(_ records: [Record], to pipeline: Pipeline) {
        self.pipeline = pipeline
        state = Mutex(State(undecided: records.count))
        for record in records {
            let ticket = pipeline.submit(record.batch) { self.decided(record.key, $0) }
            if let ticket { state.withLock { $0.tickets.append(ticket) } }
        }
    }

    /// Whether the pipeline has not decided about all of them, because some are being written.
    var isUndecided: Bool { state.withLock { $0.undecided > 0 } }

    /// Why one of them was not accepted.
    var error: TrackError? { state.withLock { $0.error } }

    /// The keys of the accepted events that are not noted yet.
    var accepted: [String] { state.withLock { $0.accepted } }

    /// Forgets the first accepted events, which were noted.
    func noted(_ count: Int) { state.withLock { $0.accepted.removeFirst(count) } }

    /// Waits until all are decided, or until `endWait`.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.undecided == 0 { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Ends the wait.
    func endWait() { state.withLock { $0.waiter.take() }?.resume() }

    /// Withdraws what the pipeline has not decided; what is being written cannot be withdrawn.
    func withdraw() {
        for ticket in state.withLock({ $0.tickets }) { pipeline.withdraw(ticket) }
    }

    private func decided(_ key: String, _ result: Result<Pipeline.Acknowledgement, TrackError>) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.undecided -= 1
            switch result {
            case .success: state.accepted.append(key)
            case .failure(let error): state.error = state.error ?? error
            }
            return state.undecided == 0 ? state.waiter.take() : nil
        }
        waiter?.resume()
    }
}
