import DequeModule
import EventModel
import EventSchema
import Journal

/// What one tracker still has to get out of the journal, and how far it has got.
///
/// It reads and writes files, so it has a thread that may block.
actor TrackerBacklog {
    /// Some events from the journal.
    struct Part: Sendable {
        /// Those that go to the tracker, in order; none of them empty.
        var slices: [EventSlice] = []
        /// The number up to which nothing is left to be read.
        var nextSequence: UInt64
        /// Those that do not follow the plan any more.
        private(set) var rejections: [Rejection] = []
        /// About how many bytes of memory these take.
        private(set) var rejectedBytes = 0
        /// What could not be read.
        var damages: [Damage] = []

        /// How many events there are for the tracker.
        var count: Int { slices.reduce(0) { $0 + $1.count } }

        /// Adds what does not follow the plan any more.
        mutating func add(_ rejected: [Rejection]) {
            rejections += rejected
            rejectedBytes += rejected.reduce(0) { $0 + $1.approximateBytes }
        }
    }

    private let thread: BlockingThread
    private let journal: Journal
    private let catalog: EventCatalog
    private let mask: UInt64
    private let delivery: Pipeline.DeliveryLimits
    private let validator: EventValidator
    private var cursor: CursorFile
    private var reader: JournalReader?
    /// Slices that were read, and not handed out.
    private var waiting: Deque<EventSlice> = []
    /// A part that was read ahead, and from where.
    private var ahead: (start: UInt64, part: Part)?
    /// From which number on reading failed the last time, and how often in a row.
    private var failure: (start: UInt64, count: Int) = (0, 0)
    /// So often a segment is tried that cannot be read: with the pauses between them, for minutes.
    private static let maximumFailures = 10
    /// What comes before this number was given up, where it was not read.
    private var givenUpBefore: UInt64 = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(
        _ journal: Journal,
        cursor: CursorFile,
        catalog: EventCatalog,
        tracker: String,
        delivery: Pipeline.DeliveryLimits,
        thread: BlockingThread
    ) {
        self.journal = journal
        self.cursor = cursor
        self.catalog = catalog
        self.delivery = delivery
        self.thread = thread
        mask = catalog.mask(ofTracker: tracker)
        // What was checked once is checked again, because the plan may be another since.
        validator = EventValidator(rereading: catalog)
    }

    /// The next events from `sequence` on, as many as one delivery takes, and none from `end` on.
    func read(from sequence: UInt64, to end: UInt64) throws(JournalError) -> Part {
        if let (start, part) = ahead.take() {
            if start == sequence { return part }
            forgetWhatWasRead()
        }
        return try readPart(from: sequence, to: end)
    }

    /// Reads what `read` will be asked for next, while the tracker delivers what came before.
    ///
    /// What cannot be read now is for `read` to try, and to tell.
    func readAhead(from sequence: UInt64, to end: UInt64) {
        guard ahead == nil, sequence < end else { return }
        let failure = failure
        if let part = try? readPart(from: sequence, to: end) {
            ahead = (sequence, part)
        } else {
            self.failure = failure
        }
    }

    private func readPart(from sequence: UInt64, to end: UInt64) throws(JournalError) -> Part {
        let start = max(sequence, givenUpBefore)
        if reader == nil || waiting.isEmpty && reader?.nextSequence != start {
            waiting = []
            reader = journal.reader(from: start)
        }
        var part = Part(nextSequence: sequence)
        // What is rejected fills a part as well: after a change of the plan that may be all there is.
        while !fill(&part), part.rejectedBytes < delivery.maximumBytes, let position = reader?.nextSequence,
            position < end
        {
            guard try readFrame(from: sequence, to: end, into: &part) else {
                // What is missing before the end is not there any more.
                part.nextSequence = end
                return part
            }
        }
        let next = waiting.isEmpty ? reader?.nextSequence : part.slices.last?.sequences.upperBound
        part.nextSequence = max(sequence, next ?? sequence)
        return part
    }

    /// Gives up what comes before `limit` and was not read, because it is going to be removed; returns how many events for
    /// the tracker that are.
    ///
    /// `sequence` is the number from which the tracker reads on.
    func giveUp(before limit: UInt64, from sequence: UInt64) -> Int {
        // What was read ahead was not handed out: it is given up with the rest, and counted.
        if let ahead, ahead.start < limit { forgetWhatWasRead() }
        let next = max(sequence, givenUpBefore, reader?.nextSequence ?? 0)
        guard next < limit else { return 0 }
        givenUpBefore = limit
        if reader != nil { reader = journal.reader(from: limit) }
        return count(from: next, to: limit)
    }

    /// How many events for the tracker can be read in a range of numbers.
    private func count(from start: UInt64, to end: UInt64) -> Int {
        var counting = journal.reader(from: start)
        var count = 0
        while counting.nextSequence < end, let step = try? counting.next() {
            switch step {
            case .frame(let header, _) where header.firstSequence >= end: return count
            case .frame(let header, let lines):
                let skipped = start > header.firstSequence ? Int(clamping: start - header.firstSequence) : 0
                guard let checked = try? validator.check(lines.droppingLines(skipped), as: .lines) else {
                    break
                }
                count += checked.rejections.count(where: concerns)
                count += checked.batch.flatMap { EventSlice($0, for: mask) }?.count ?? 0
            case .damage: continue
            case .caughtUp: return count
            }
        }
        return count
    }

    /// Where a tracker begins that keeps its own place; `end` is where the journal ended when it was opened.
    func resumption(from checkpoint: UInt64?, end: UInt64) -> Resumption {
        let reach = min(journal.position.firstSequence, end)...end
        return Resumption(from: checkpoint, cursor: cursor.sequence ?? end, known: cursor.checkpoint, journal: reach)
    }

    /// Puts the cursor to where the tracker begins, be it ahead or back.
    func resume(_ resumption: Resumption) throws(JournalError) {
        try putCursor(to: resumption.sequence, checkpoint: resumption.checkpoint, syncs: true)
    }

    /// Notes that everything before `sequence` is settled; where `syncs` says so, for good.
    ///
    /// `checkpoint` is what the tracker stored itself; `nil` where it stored nothing now. A cursor that a loss of power
    /// sets back makes its tracker get events again, which it was promised may happen.
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

    /// Reads again what was read last, at the next call: it was not handed on.
    func forgetWhatWasRead() {
        reader = nil
        waiting = []
        ahead = nil
    }

    /// Moves slices that were read into the part; true where it is full.
    private func fill(_ part: inout Part) -> Bool {
        var (events, bytes) = (part.count, part.slices.reduce(0) { $0 + $1.byteCount })
        while let next = waiting.first {
            let room = delivery.maximumEvents - events
            guard room > 0, bytes == 0 || bytes + next.byteCount <= delivery.maximumBytes else { return true }
            let slice = next.count > room ? next[0..<room] : next
            if slice.count < next.count { waiting[0] = next[room..<next.count] } else { waiting.removeFirst() }
            part.slices.append(slice)
            events += slice.count
            bytes += slice.byteCount
        }
        return events >= delivery.maximumEvents || bytes >= delivery.maximumBytes
    }

    /// Reads one frame; false where there is none before `end`.
    private func readFrame(from sequence: UInt64, to end: UInt64, into part: inout Part) throws(JournalError) -> Bool {
        let step: JournalReader.Step
        do throws(FileError) {
            guard let next = try reader?.next() else { return false }
            step = next
        } catch {
            // Without a descriptor or memory it can be read later; only what the disk has lost is given up.
            guard error.isOfMedium else { throw beginAnew("The journal cannot be read: \(error).") }
            failure = (sequence, failure.start == sequence ? failure.count + 1 : 1)
            guard failure.count >= Self.maximumFailures,
                let damage = reader?.passSegment(.unreadable(error.errorNumber))
            else { throw beginAnew("The journal cannot be read: \(error).") }
            failure.count = 0
            part.damages.append(damage)
            return true
        }
        switch step {
        case .frame(let header, _) where header.firstSequence >= end:
            // It is on its way to the queues; should they not take it, it is read again.
            reader = nil
            return false
        case .frame(let header, let lines):
            let skipped = sequence > header.firstSequence ? Int(clamping: sequence - header.firstSequence) : 0
            let checked = try check(lines.droppingLines(skipped))
            part.add(checked.rejections.filter(concerns))
            if let batch = checked.batch, var slice = EventSlice(batch, for: mask) {
                slice.sequences = header.firstSequence + UInt64(skipped)..<header.nextSequence
                slice.committedPlaces = Self.places(of: batch, besides: checked.rejections)
                waiting.append(slice)
            }
            return true
        case .damage(let damage):
            part.damages.append(damage)
            return true
        case .caughtUp:
            return false
        }
    }

    private func check(_ lines: UnsafeRawBufferPointer) throws(JournalError) -> CheckedBody {
        do {
            return try validator.check(lines, as: .lines)
        } catch {
            throw beginAnew("The journal's events cannot be checked: \(error)")
        }
    }

    /// Forgets what was read, because it is to be read again.
    private func beginAnew(_ message: String) -> JournalError {
        forgetWhatWasRead()
        return JournalError(.unreadable, message)
    }

    /// Whether a rejected event is this tracker's: it names the tracker, or nobody knows what it named.
    private func concerns(_ rejection: Rejection) -> Bool {
        guard let name = rejection.name,
            let index = catalog.definitions.firstIndex(where: { $0.name == name })
        else { return true }
        return catalog.trackerMasks[index] & mask != 0
    }

    /// Where the accepted events stood among all; `nil` where all were accepted.
    private static func places(of batch: EventBatch, besides rejections: [Rejection]) -> [UInt32]? {
        if rejections.isEmpty { return nil }
        let rejected = Set(rejections.map(\.index))
        return (0..<batch.count + rejections.count).filter { !rejected.contains($0) }.map(UInt32.init)
    }
}
