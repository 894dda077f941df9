import DequeModule
import EventModel
import EventValidation

/// The verdicts that event loops have handed to the thread that writes them, and that are not written yet.
///
/// A value, changed under a lock. It is bounded in bytes, those that are being written included: what finds no room is not
/// taken, because an event loop must not wait for a disk.
struct VerdictHandover: Sendable {
    /// The rejected events of one request; the thread that writes them brings them into the form that is stored.
    struct Entry: Sendable {
        let rejections: [Rejection]
        let source: String
        let planVersion: String?
        let time: Timestamp
        /// About how much memory they take, and no less than will be written.
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

    /// What became of an entry.
    enum Admission: Sendable, Hashable {
        /// It waits, and the writer that is running writes it.
        case waits
        /// It waits, and the caller has to start the writing.
        case startsWriting
        /// There was no room.
        case full
    }

    /// A task that waits until everything handed over before it is written.
    private struct Drain {
        let number: UInt64
        /// How many entries must be done with.
        let target: UInt64
        let completion: @Sendable () -> Void
    }

    private let capacityInBytes: Int
    private let maximumFrameBytes: Int
    private var waiting: Deque<Entry> = []
    private var drains: [Drain] = []
    private var isWriting = false
    /// How many entries were taken, and how many of them are done with.
    private var taken: UInt64 = 0
    private var done: UInt64 = 0
    /// What is not done with, in bytes and in events.
    private var bytes = 0
    private(set) var events = 0

    /// Takes entries up to a limit, and gives back at most `maximumFrameBytes` of them at a time, unless one alone has more.
    init(capacityInBytes: Int, maximumFrameBytes: Int) {
        self.capacityInBytes = capacityInBytes
        self.maximumFrameBytes = maximumFrameBytes
    }

    /// Takes an entry, where there is room.
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

    /// What is to be written next; `nil` where nothing is left, and then the writing ends.
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

    /// Notes that entries are done with, written or not; returns whom to tell.
    mutating func finish(_ entries: [Entry]) -> [@Sendable () -> Void] {
        done += UInt64(entries.count)
        for entry in entries {
            bytes -= entry.byteCount
            events -= entry.rejections.count
        }
        return endDrains { [done] in $0.target <= done }
    }

    /// Calls `completion` back once everything that was taken so far is done with; returns whom to tell at once.
    mutating func drain(number: UInt64, _ completion: @escaping @Sendable () -> Void) -> [@Sendable () -> Void] {
        drains.append(Drain(number: number, target: taken, completion: completion))
        return endDrains { [done] in $0.target <= done }
    }

    /// Ends a drain early; returns whom to tell.
    mutating func abandonDrain(number: UInt64) -> [@Sendable () -> Void] {
        endDrains { $0.number == number }
    }

    private mutating func endDrains(where isOver: (Drain) -> Bool) -> [@Sendable () -> Void] {
        let over = drains.filter(isOver)
        drains.removeAll { drain in over.contains { $0.number == drain.number } }
        return over.map(\.completion)
    }
}
