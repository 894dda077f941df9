import DequeModule
import EventModel
import EventValidation

/// The queue of rejected events between the event loops and the thread that writes them.
///
/// It is a value that is changed under a lock. Its capacity is in bytes and includes the events that are being written. When it is
/// full, further events are not accepted, because an event loop must not wait for a disk.
struct VerdictHandover: Sendable {
    /// The rejected events of one request; the writing thread encodes them.
    struct Entry: Sendable {
        let rejections: [Rejection]
        let source: String
        let planVersion: String?
        let time: Timestamp
        /// The approximate size that will be written; in memory they take up to twice as much.
        let byteCount: Int

        init(_ rejections: [Rejection], source: String, planVersion: String?, at time: Timestamp) {
            self.rejections = rejections
            self.source = source
            self.planVersion = planVersion
            self.time = time
            byteCount = rejections.reduce(0) {
                $0 + $1.original.count + Rejection.storedBytes(of: $1.violations)
            }
        }

        var records: VerdictRecords {
            VerdictRecords(rejections, source: source, planVersion: planVersion, at: time)
        }
    }

    /// Whether an entry was accepted.
    enum Admission: Sendable, Hashable {
        /// It was queued, and the running writer writes it.
        case waits
        /// It was queued, and the caller has to start the writer.
        case startsWriting
        /// The queue is full.
        case full
    }

    /// A task that waits until all earlier entries are written.
    private struct Drain {
        let number: UInt64
        /// The number of entries that must be finished.
        let target: UInt64
        let completion: @Sendable () -> Void
    }

    private let capacityInBytes: Int
    private let maximumFrameBytes: Int
    private var waiting: Deque<Entry> = []
    private var drains: [Drain] = []
    private var isWriting = false
    /// The number of entries that were accepted, and that were finished.
    private var taken: UInt64 = 0
    private var done: UInt64 = 0
    /// The size of unfinished entries, in bytes and in events.
    private var bytes = 0
    private(set) var events = 0

    /// Makes a queue that returns at most `maximumFrameBytes` at a time, unless a single entry is larger.
    init(capacityInBytes: Int, maximumFrameBytes: Int) {
        self.capacityInBytes = capacityInBytes
        self.maximumFrameBytes = maximumFrameBytes
    }

    /// Adds an entry, if there is room.
    mutating func add(_ entry: Entry) -> Admission {
        guard entry.byteCount <= capacityInBytes - bytes else { return .full }
        waiting.append(entry)
        taken += 1
        bytes += entry.byteCount
        events += entry.rejections.count
        guard !isWriting else { return .waits }
        isWriting = true
        return .startsWriting
    }

    /// The entries to write next; `nil` if there are none, and then the writer ends.
    mutating func next() -> [Entry]? {
        guard let first = waiting.popFirst() else {
            isWriting = false
            return nil
        }
        var entries = [first]
        var bytes = first.byteCount
        while let next = waiting.first, bytes + next.byteCount <= maximumFrameBytes {
            bytes += next.byteCount
            entries.append(next)
            waiting.removeFirst()
        }
        return entries
    }

    /// Marks entries as finished, written or lost; returns completions to call.
    mutating func finish(_ entries: [Entry]) -> [@Sendable () -> Void] {
        done += UInt64(entries.count)
        for entry in entries {
            bytes -= entry.byteCount
            events -= entry.rejections.count
        }
        return endDrains { [done] in $0.target <= done }
    }

    /// Registers a completion for when all entries so far are finished; returns completions to call at once.
    mutating func drain(number: UInt64, _ completion: @escaping @Sendable () -> Void) -> [@Sendable () -> Void] {
        drains.append(Drain(number: number, target: taken, completion: completion))
        return endDrains { [done] in $0.target <= done }
    }

    /// Ends a drain early; returns completions to call.
    mutating func abandonDrain(number: UInt64) -> [@Sendable () -> Void] {
        endDrains { $0.number == number }
    }

    private mutating func endDrains(where isOver: (Drain) -> Bool) -> [@Sendable () -> Void] {
        let over = drains.filter(isOver)
        drains.removeAll { drain in over.contains { $0.number == drain.number } }
        return over.map(\.completion)
    }
}
