import DequeModule
import EventJournal
import EventModel
import EventSchema
import EventValidation
import TrackerKit

/// Reads the events that one tracker has to get from the journal, and keeps the tracker's cursor.
///
/// It reads and writes files, so it has a thread of its own that may block.
actor TrackerBacklog {
    /// Some events from the journal.
    struct Part: Sendable {
        /// The events for the tracker, in order; no slice is empty.
        var slices: [EventSlice] = []
        /// The number up to which everything has been read.
        var nextSequence: UInt64
        /// The events that no longer follow the plan.
        private(set) var rejections: [Rejection] = []
        /// The approximate memory that these take, in bytes.
        private(set) var rejectedBytes = 0
        /// When the first of its slices was committed, by the pipeline's clock; `nil` if there are none.
        private(set) var earliestCommit: Duration?
        /// When the last event was committed that was read, for this tracker or others.
        var latestCommit: Duration?
        /// The damaged parts, which could not be read.
        var damages: [Damage] = []
        /// How many of its events were in the journal when it was opened, the rejected ones included.
        private(set) var earlierEvents = 0
        /// How many events that were in the journal when it was opened are lost to damage, for this tracker or others.
        var lostEarlierEvents = 0

        /// How many events there are for the tracker.
        var count: Int { slices.reduce(0) { $0 + $1.count } }

        /// Adds events for the tracker; `isEarlier` says that they were in the journal when it was opened.
        mutating func add(_ slice: EventSlice, committed: Duration, isEarlier: Bool) {
            slices.append(slice)
            earliestCommit = earliestCommit ?? committed
            latestCommit = committed
            if isEarlier { earlierEvents += slice.count }
        }

        /// Adds what does not follow the plan any more.
        mutating func add(_ rejected: [Rejection], isEarlier: Bool) {
            rejections += rejected
            if isEarlier { earlierEvents += rejected.count }
            rejectedBytes += rejected.reduce(0) { $0 + $1.approximateBytes }
        }
    }

    /// A number of the tracker's events, split by whether this pipeline accepted them.
    struct Count: Sendable, Equatable {
        /// Events that were in the journal when it was opened.
        var earlier = 0
        /// Events accepted since.
        var later = 0

        var total: Int { earlier + later }
    }

    private let thread: BlockingThread
    private let journal: Journal
    /// Where the journal ended when it was opened.
    private let end: UInt64
    private let tracker: String
    private var catalog: EventCatalog
    private var mask: UInt64
    /// How much one part holds.
    private var limits = DeliveryLimits()
    /// Checks events that were accepted under another plan.
    private var validator: EventValidator
    private var cursor: CursorFile
    private var reader: JournalReader?
    /// Slices that were read but not returned yet, and when they were committed.
    private var waiting: Deque<(slice: EventSlice, committed: Duration)> = []
    /// When the frame was committed that was read last.
    private var latestCommit: Duration?
    /// The number at which damage began and its size in bytes, as long as no event behind it has been read.
    private var damage: (start: UInt64, byteCount: Int)?
    /// A part that was read ahead, and the number at which it begins.
    private var ahead: (start: UInt64, part: Part)?
    /// The number at which reading failed last, and how often in a row.
    private var failure: (start: UInt64, count: Int) = (0, 0)
    /// How often an unreadable segment is tried before it is passed; with the pauses in between this takes minutes.
    private static let maximumFailures = 10
    /// Unread events before this number were given up.
    private var givenUpBefore: UInt64 = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(
        _ journal: Journal,
        end: UInt64,
        cursor: CursorFile,
        catalog: EventCatalog,
        tracker: String,
        thread: BlockingThread
    ) {
        self.journal = journal
        self.end = end
        self.cursor = cursor
        self.catalog = catalog
        self.thread = thread
        self.tracker = tracker
        mask = catalog.mask(ofTracker: tracker)
        validator = EventValidator(rereading: catalog)
    }

    /// The next events from `sequence` up to and excluding `end`, as many as one delivery takes by its `limits`, as the plan of
    /// `catalog` has them.
    ///
    /// A part that was read ahead has the limits of the call before.
    func read(
        from sequence: UInt64,
        to end: UInt64,
        as catalog: EventCatalog,
        within limits: DeliveryLimits
    ) throws(JournalError) -> Part {
        self.limits = limits
        if catalog !== self.catalog { change(to: catalog) }
        if let (start, part) = ahead.take() {
            if start == sequence { return part }
            forgetWhatWasRead()
        }
        return try readPart(from: sequence, to: end)
    }

    /// Reads the next part while the tracker delivers the current one.
    ///
    /// Errors are ignored: `read` will try again and throw them.
    func readAhead(from sequence: UInt64, to end: UInt64) {
        guard ahead == nil, sequence < end else { return }
        let failure = failure
        if let part = try? readPart(from: sequence, to: end) {
            ahead = (sequence, part)
        } else {
            self.failure = failure
        }
    }

    /// Reads events as another plan has them from now on.
    private func change(to catalog: EventCatalog) {
        forgetWhatWasRead()
        self.catalog = catalog
        mask = catalog.mask(ofTracker: tracker)
        validator = EventValidator(rereading: catalog)
    }

    private func readPart(from sequence: UInt64, to limit: UInt64) throws(JournalError) -> Part {
        let start = max(sequence, givenUpBefore)
        if reader == nil || waiting.isEmpty && reader?.nextSequence != start {
            waiting = []
            damage = nil
            reader = journal.reader(from: start)
        }
        var part = Part(nextSequence: sequence)
        // Rejected events fill a part as well: after a change of the plan there may be no others.
        while !fill(&part), part.rejectedBytes < limits.maximumBytes, let position = reader?.nextSequence,
            position < limit
        {
            guard try readFrame(from: sequence, to: limit, into: &part) else {
                // Events that are missing before the end are lost.
                noteLoss(before: limit, in: &part)
                part.nextSequence = limit
                return part
            }
        }
        if waiting.isEmpty, let position = reader?.nextSequence, position >= limit {
            noteLoss(before: position, in: &part)
        }
        if waiting.isEmpty { part.latestCommit = latestCommit }
        let next = waiting.isEmpty ? reader?.nextSequence : part.slices.last?.sequences.upperBound
        part.nextSequence = max(sequence, next ?? sequence)
        return part
    }

    /// Gives up the unread events before `limit`, because their segments will be removed; returns how many of them were for the
    /// tracker.
    ///
    /// `sequence` is the number from which the tracker reads next.
    func giveUp(before limit: UInt64, from sequence: UInt64) -> Count {
        // Events that were read ahead were not returned yet, so they are given up and counted with the rest.
        if let ahead, ahead.start < limit { forgetWhatWasRead() }
        let next = max(sequence, givenUpBefore, reader?.nextSequence ?? 0)
        guard next < limit else { return Count() }
        givenUpBefore = limit
        if reader != nil { reader = journal.reader(from: limit) }
        return count(from: next, to: limit)
    }

    /// Counts the readable events for the tracker in a range of numbers.
    private func count(from start: UInt64, to limit: UInt64) -> Count {
        var counting = journal.reader(from: start)
        var count = Count()
        while counting.nextSequence < limit, let step = try? counting.next() {
            switch step {
            case .frame(let header, _) where header.firstSequence >= limit: return count
            case .frame(let header, let lines):
                let skipped = start > header.firstSequence ? Int(clamping: start - header.firstSequence) : 0
                guard let checked = try? check(lines.droppingLines(skipped), of: header) else { break }
                let events =
                    checked.rejections.count(where: { catalog.concerns($0, mask: mask) })
                    + (checked.batch.flatMap { EventSlice($0, for: mask) }?.count ?? 0)
                if header.firstSequence < end { count.earlier += events } else { count.later += events }
            case .damage: continue
            case .caughtUp: return count
            }
        }
        return count
    }

    /// When the first event at or after a number was committed, by the pipeline's clock; `nil` if there is none, or if the journal
    /// cannot be read.
    func commitTime(ofEventsFrom sequence: UInt64) -> Duration? {
        (try? journal.commitTime(ofEventsFrom: sequence)).flatMap { $0 }.map(time)
    }

    /// The time of a commit by the pipeline's clock, which was at zero when the journal was opened.
    private func time(ofCommit microseconds: Int64) -> Duration { .microseconds(microseconds &- journal.openedAt) }

    /// Where a tracker that stores its own checkpoint resumes; `end` is where the journal ended when it was opened.
    func resumption(from checkpoint: UInt64?, end: UInt64) -> Resumption {
        let reach = min(journal.position.firstSequence, end)...end
        return Resumption(from: checkpoint, cursor: cursor.sequence ?? end, known: cursor.checkpoint, journal: reach)
    }

    /// Moves the cursor to where the tracker resumes, forwards or backwards.
    func resume(_ resumption: Resumption) throws(JournalError) {
        try putCursor(to: resumption.sequence, checkpoint: resumption.checkpoint, syncs: true)
    }

    /// Moves the cursor to `sequence`, before which everything is settled, and syncs it if `syncs`.
    ///
    /// `checkpoint` is the checkpoint that the tracker stored itself, or `nil` if it stored none now. If a power failure loses the
    /// move, the tracker gets some events again; delivery is at least once.
    func moveCursor(to sequence: UInt64, checkpoint: UInt64? = nil, syncs: Bool) throws(JournalError) {
        guard syncs || cursor.sequence.map({ $0 < sequence }) ?? true else { return }
        try putCursor(
            to: max(sequence, cursor.sequence ?? 0),
            checkpoint: checkpoint ?? cursor.checkpoint,
            syncs: syncs
        )
    }

    private func putCursor(to sequence: UInt64, checkpoint: UInt64?, syncs: Bool) throws(JournalError) {
        do throws(FileError) {
            try cursor.move(to: sequence, checkpoint: checkpoint, syncs: syncs)
        } catch {
            throw JournalError(.unwritable, "The cursor cannot be moved: \(error).")
        }
    }

    /// Discards what was read, so that the next call reads it again.
    func forgetWhatWasRead() {
        reader = nil
        waiting = []
        damage = nil
        ahead = nil
    }

    /// Moves slices that were read into the part; returns whether it is full.
    private func fill(_ part: inout Part) -> Bool {
        var (events, bytes) = (part.count, part.slices.reduce(0) { $0 + $1.byteCount })
        while let (next, committed) = waiting.first {
            let room = limits.maximumEvents - events
            guard room > 0, bytes == 0 || bytes + next.byteCount <= limits.maximumBytes else { return true }
            let slice = next.count > room ? next[0..<room] : next
            if slice.count < next.count { waiting[0].slice = next[room..<next.count] } else { waiting.removeFirst() }
            part.add(slice, committed: committed, isEarlier: slice.sequences.lowerBound < end)
            events += slice.count
            bytes += slice.byteCount
        }
        return events >= limits.maximumEvents || bytes >= limits.maximumBytes
    }

    /// Reads one frame; returns false if there is none before `end`.
    private func readFrame(
        from sequence: UInt64,
        to limit: UInt64,
        into part: inout Part
    ) throws(JournalError) -> Bool {
        let start = reader?.nextSequence ?? sequence
        let step: JournalReader.Step
        do throws(FileError) {
            guard let next = try reader?.next() else { return false }
            step = next
        } catch {
            // A lack of descriptors or memory passes; only what the disk cannot read is given up.
            guard error.isMediaError else { throw beginAnew("The journal cannot be read: \(error).") }
            failure = (sequence, failure.start == sequence ? failure.count + 1 : 1)
            guard failure.count >= Self.maximumFailures,
                let damage = reader?.passSegment(.unreadable(error.errorNumber))
            else { throw beginAnew("The journal cannot be read: \(error).") }
            failure.count = 0
            note(damage, from: start, in: &part)
            return true
        }
        switch step {
        case .frame(let header, _) where header.firstSequence >= limit:
            // The frame is being published to the queues; if they spill it, it is read again.
            reader = nil
            return false
        case .frame(let header, let lines):
            noteLoss(before: header.firstSequence, in: &part)
            let committed = time(ofCommit: header.committedAt)
            latestCommit = committed
            let skipped = sequence > header.firstSequence ? Int(clamping: sequence - header.firstSequence) : 0
            let checked = try check(lines.droppingLines(skipped), of: header)
            let rejections = checked.rejections.filter { catalog.concerns($0, mask: mask) }
            part.add(rejections, isEarlier: header.firstSequence < end)
            if let batch = checked.batch, var slice = EventSlice(batch, for: mask) {
                slice.sequences = header.firstSequence + UInt64(skipped)..<header.nextSequence
                slice.committedPlaces = Self.places(of: batch, besides: checked.rejections)
                waiting.append((slice, committed))
            }
            return true
        case .damage(let damage):
            note(damage, from: start, in: &part)
            return true
        case .caughtUp:
            return false
        }
    }

    /// Records damage; how many events it took is known when an event behind it is read.
    private func note(_ damage: Damage, from start: UInt64, in part: inout Part) {
        part.damages.append(damage)
        let before = self.damage
        self.damage = (before?.start ?? start, (before?.byteCount ?? 0) + damage.byteCount)
    }

    /// Counts the events before this number that damage took, as far as they were in the journal when it was opened.
    ///
    /// Numbers can be missing for other reasons, so at most as many events count as fit into the damaged bytes.
    private func noteLoss(before sequence: UInt64, in part: inout Part) {
        guard let (start, byteCount) = damage.take() else { return }
        let missing = min(sequence, end)
        guard start < missing else { return }
        part.lostEarlierEvents += min(Int(clamping: missing - start), byteCount / Self.minimumLineBytes)
    }

    /// The minimum length of a canonical line: an id, a name and two times alone take more.
    private static let minimumLineBytes = 100

    /// The events of a frame, checked unless they were accepted under the same plan.
    private func check(
        _ lines: UnsafeRawBufferPointer,
        of header: FrameHeader
    ) throws(JournalError) -> (batch: EventBatch?, rejections: [Rejection]) {
        if header.planDigest == catalog.planDigest, let batch = EventBatch(accepted: lines, of: catalog) {
            return (batch, [])
        }
        do {
            let checked = try validator.check(lines: lines)
            return (checked.batch, checked.rejections)
        } catch {
            throw beginAnew("The journal's events cannot be checked: \(error)")
        }
    }

    /// Discards what was read, and returns the error to throw.
    private func beginAnew(_ message: String) -> JournalError {
        forgetWhatWasRead()
        return JournalError(.unreadable, message)
    }

    /// The places of the accepted events among all events of the frame; `nil` if all were accepted.
    private static func places(of batch: EventBatch, besides rejections: [Rejection]) -> [UInt32]? {
        if rejections.isEmpty { return nil }
        let rejected = Set(rejections.map(\.index))
        return (0..<batch.count + rejections.count).filter { !rejected.contains($0) }.map(UInt32.init)
    }
}
