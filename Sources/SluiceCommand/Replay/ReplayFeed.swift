import EventJournal
import EventPipeline
import EventQuarantine
import EventSchema
import EventValidation
import Foundation
import ServiceLifecycle

/// The service that reads: it ends when everything read is delivered, or when it is told to end before that.
actor ReplayFeed: Service {
    /// So many records of the quarantine are sent on before they are noted; a crash sends those again, with the same ids.
    private static let maximumAccepted = 10_000

    private let replay: Replay
    /// Where a rate is stated.
    private var rate: ReplayRate<ContinuousClock>?
    private let reader: ReplayReader
    private let progress: ReplayProgress?
    /// What was done so far.
    private(set) var report = ReplayReport()
    /// The records of the quarantine that were accepted and are not noted as sent.
    private var accepted: [String] = []
    private var sent: SentRecords?
    /// Whether the pipeline takes nothing more, because a tracker was given up.
    private var isClosed = false

    init(_ replay: Replay, start: ContinuousClock.Instant, showsProgress: Bool) throws {
        self.replay = replay
        // Taken from the beginning, so that nobody else sends on the same meanwhile.
        let sends = replay.paths.contains(QuarantineSource.name) && !replay.isDryRun
        sent = sends ? try SentRecords(ofQuarantine: replay.quarantine.folder, changes: true) : nil
        rate = replay.rate.map { ReplayRate(eventsPerSecond: $0, clock: ContinuousClock()) }
        // At a stated rate the input comes in tenths of a second.
        reader = try ReplayReader(
            paths: replay.paths,
            catalog: replay.catalog,
            maximumLines: replay.rate.map { max(1, $0 / 10) } ?? .max,
            times: replay.filter.times,
            quarantine: replay.quarantine
        )
        progress = showsProgress ? ReplayProgress(totalBytes: Self.size(of: replay.paths), start: start) : nil
    }

    func run() async {
        await cancelWhenGracefulShutdown { await self.feed() }
    }

    private func feed() async {
        await withTaskCancellationHandler {
            while !isClosed, let part = await reader.next(), !Task.isCancelled {
                await send(part)
                progress?.show(events: report.read, bytes: await reader.bytesRead)
                await keepToRate(part.checked.count)
                if accepted.count >= Self.maximumAccepted { await noteSent() }
            }
            await noteSent()
        } onCancel: {
            reader.stop()
        }
        progress?.clear()
        report.failures += await reader.failures
        if Task.isCancelled, !isClosed {
            report.failures.append("told to stop before everything was read and delivered")
        }
    }

    /// Counts a part, sends on what passes the filter, and keeps what was rejected.
    private func send(_ part: ReplayReader.Part) async {
        let filter = part.record == nil ? replay.filter : ReplayFilter()
        let rejections = part.checked.rejections.filter { !filter.leavesOut($0) }
        let selected = part.checked.batch.flatMap { filter.apply(to: $0) }.flatMap { isForUs(part, $0) ? $0 : nil }
        report.read += part.checked.count
        report.skipped += part.checked.count - rejections.count - (selected?.count ?? 0)
        report.rejected += rejections.count
        for rejection in rejections {
            for code in Set(rejection.violations.map(\.code)) { report.rejectedByCode[code.rawValue, default: 0] += 1 }
        }
        if !part.isQuarantined {
            replay.pipeline.quarantine(rejections, source: part.path)
            // Unlike an event loop, this may wait for the disk, and then nothing is lost for want of room.
            await replay.rejectedEvents.drain()
        }
        guard let selected else { return }
        do {
            try await replay.pipeline.submit(selected)
            report.accepted += selected.count
            if let record = part.record { accepted.append(record.key) }
        } catch {
            isClosed = error == .closed
            report.failures.append("\(part.path): \(selected.count) events were read, but not taken any more")
        }
    }

    /// Whether a record can be sent to every tracker that it is meant for and that is configured: once sent on, it is not
    /// sent again.
    private func isForUs(_ part: ReplayReader.Part, _ batch: EventBatch) -> Bool {
        guard let record = part.record else { return true }
        let named =
            record.tracker.map { [$0] }
            ?? batch.entries.flatMap { entry in
                batch.catalog.definitions[Int(entry.definitionIndex)].trackers
            }
        let wanted = Set(named.map { $0.lowercased() }).intersection(replay.configuredTrackers)
        return !wanted.isEmpty && wanted.isSubset(of: replay.trackers)
    }

    /// Waits until all is delivered, and notes which records of the quarantine need not be sent on again.
    ///
    /// Where the waiting ends before that, because the replay is told to stop, they can be noted when the pipeline has ended.
    func noteSent() async {
        await replay.pipeline.flush()
        let isDelivered = replay.pipeline.statistics.trackers.allSatisfy { $0.pendingEvents == 0 && $0.dropped == 0 }
        guard isDelivered, replay.rejectedEvents.statistics.lost == 0, !accepted.isEmpty, sent != nil else { return }
        do throws(JournalError) {
            try sent?.add(accepted)
        } catch {
            report.failures.append("\(accepted.count) events were sent on, which could not be noted: \(error)")
        }
        accepted = []
    }

    private func keepToRate(_ count: Int) async {
        guard var rate else { return }
        await rate.wait(for: count)
        self.rate = rate
    }

    /// How many bytes there are to read; `nil` where standard input is among them.
    private static func size(of paths: [String]) -> Int? {
        paths.reduce(into: Int?.some(0)) { total, path in
            guard let size = size(of: path), let sum = total else { return total = nil }
            total = sum + size
        }
    }

    private static func size(of path: String) -> Int? {
        // How much of it is meant nobody knows.
        if path == QuarantineSource.name { return nil }
        if let folder = JournalSource.folder(ofPath: path) { return JournalSource.byteCount(ofFolder: folder) }
        let attributes = path == "-" ? nil : try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? Int
    }
}
